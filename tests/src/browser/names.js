// How people and screen readers find things: by what they are and what they are called, among what is there to be used now.

const squeezed = (text) => (text ?? '').replace(/\s+/g, ' ').trim();
const there = (element) => element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;

/** What is read aloud of an element's content. */
function spoken(element) {
	const walker = document.createTreeWalker(element, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) => {
		if (node.ariaHidden === 'true') return NodeFilter.FILTER_REJECT;
		return node.nodeType === Node.TEXT_NODE || node.alt ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP;
	});
	const parts = [];
	while (walker.nextNode()) parts.push(walker.currentNode.data ?? walker.currentNode.alt);
	return parts.join(' ');
}

function nameOf(element) {
	const named = (element.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => document.getElementById(id)?.textContent).join(' ');
	const labels = [...(element.labels ?? [])].map((label) => label.textContent).join(' ');
	const content = element.matches('input, select, textarea') ? '' : spoken(element);
	const found = [named, element.getAttribute('aria-label'), labels, element.alt, content, element.title, element.placeholder].map(squeezed);
	return found.find((text) => text) ?? '';
}

const KINDS = {
	press: 'button, a[href], summary, [role=button]',
	button: 'button, [role=button]',
	link: 'a[href]',
	field: 'input:not([type=checkbox], [type=radio], [type=hidden]), textarea, select',
	box: 'input[type=checkbox], input[type=radio]',
	image: 'img',
};

const dialog = () => [...document.querySelectorAll('dialog[open]')].at(-1) ?? null;

/** Where to look: the open dialog, else the page; `row` narrows to the entry with a text, `part` to the section under a heading. */
function scope(within) {
	const whole = dialog() ?? document.body;
	if (within?.row) {
		const rows = [...whole.querySelectorAll('tr, li')].filter((row) => there(row) && squeezed(row.innerText).toLowerCase().includes(within.row.toLowerCase()));
		return rows.find((row) => !rows.some((inner) => inner !== row && row.contains(inner))) ?? null;
	}
	if (within?.part) {
		const heading = [...whole.querySelectorAll('h1, h2, h3')].find((one) => there(one) && squeezed(one.textContent) === within.part);
		return heading?.closest('section, article, fieldset, dialog, main') ?? null;
	}
	return whole;
}

/** What is called so; null when there is none, an error when it is not clear which is meant. */
function find(kind, name, within) {
	const place = scope(within);
	if (!place) return null;
	const all = [...place.querySelectorAll(KINDS[kind])].filter(there);
	const plain = (text) => text.replace(/ \(?optional\)?$/, '');
	const exact = all.filter((element) => plain(nameOf(element)) === name);
	const found = exact.length ? exact : all.filter((element) => nameOf(element).startsWith(name));
	if (found.length > 1) throw new Error(`${found.length} things are called “${name}”: ${found.map((one) => one.outerHTML.slice(0, 120)).join(' | ')}`);
	return found[0] ?? null;
}

/** The control of that name, if it can be used. */
const usable = (kind, name, within) => {
	const element = find(kind, name, within);
	return element && !element.disabled && !element.closest('[inert]') ? element : null;
};

const option = (name, text, within) => [...(find('field', name, within)?.options ?? [])].find((one) => squeezed(one.textContent) === text) ?? null;
const reads = (text, within) => squeezed(scope(within)?.innerText).toLowerCase().includes(squeezed(text).toLowerCase());
const title = () => squeezed(document.querySelector('h1')?.textContent);
const resting = () => document.readyState === 'complete' && !document.querySelector('[aria-busy=true], .skeleton, .splash');
