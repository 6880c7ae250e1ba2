// What the modules hand each other, for the type checker alone: `tsc -p tests/panel`. Nothing of this is served.

/** Path, title, group, who sees it, what it shows, and what the path's second part names. */
type ViewRow = [string, string, string, (context: any) => boolean, (context: any) => any, ((context: any) => any)?];

/** `[method, path, body?]` of the request that a dialog would send, for "copy as curl". */
type Requested = () => any[];

interface FieldOptions {
	label: string;
	name: string;
	type?: string;
	hint?: string;
	/** `[value, text]` each: a select in place of an input. */
	options?: any[];
	value?: any;
	optional?: boolean;
	/** Attributes of the input. */
	[attribute: string]: any;
}

interface FormOptions {
	fields: any[];
	submit: string;
	kind?: string;
	extra?: any[];
	cancel?: () => unknown;
	/** `[name, problem]` of the field that is wrong, or something false. */
	check?: () => unknown;
	/** Asked before anything is sent; something false stops it. */
	before?: () => any;
	onsubmit: () => any;
	/** Whether what was typed counts as unsaved work. */
	keeps?: boolean;
}

interface AskOptions extends FormOptions {
	title: string;
	text?: any;
	wide?: boolean;
	done?: (result: any) => unknown;
	request?: Requested;
}

interface QuestionOptions {
	title: any;
	text: any;
	no?: string;
	actions: (dialog: any) => any;
	request?: Requested;
}

interface ConfirmOptions {
	title: any;
	text?: any;
	action: string;
	kind?: string;
	run: () => Promise<any>;
	done?: (result?: any) => unknown;
	request?: Requested;
}

interface OpenOptions {
	wide?: boolean;
	role?: string;
	/** What describes it: an element with an id. */
	describedBy?: HTMLElement;
	stay?: any;
	onclose?: () => unknown;
}

interface ButtonOptions {
	kind?: string;
	/** The name of an icon. */
	mark?: string;
	/** Attributes of the button. */
	[attribute: string]: any;
}

interface PageOptions {
	cursor?: string | null;
	limit?: number;
	order?: string;
	parse?: (text: string) => any;
	query?: Record<string, any>;
}

interface ListingOptions {
	path: string;
	key: string;
	noun: string;
	columns: string[];
	line: (entry: any) => any[];
	nothing?: () => any;
	/** The parameter by which the API searches this list. */
	search?: 'q' | 'search';
	filters?: any[];
	parse?: (text: string) => any;
	order?: string;
	sort?: (a: any, b: any) => number;
	query?: Record<string, any>;
	prepare?: (entries: any[]) => any[];
	failed?: (error: unknown) => any;
	loaded?: (entries: any[]) => unknown;
}

interface SignInOptions {
	org?: any;
	email?: string;
	next?: string;
	/** The organization whose sign-in waits for its second step. */
	second?: string;
	fixed?: boolean;
	onsignedin: (session: any) => unknown;
}

interface SecretShown {
	title: string;
	text: any;
	label: string;
	secret: string;
	onclose?: () => unknown;
}

// What views attach to elements.
interface Element {
	isUnsaved?: () => boolean;
	settle?: () => unknown;
	leave?: (...how: any[]) => any;
}

interface ParentNode {
	querySelector(selector: `meta${string}`): HTMLMetaElement | null;
	querySelector(selector: `${string}[autofocus]${string}`): HTMLElement | null;
	querySelectorAll(selector: `dialog${string}`): NodeListOf<HTMLDialogElement>;
}
