// Metadata as typed. JavaScript's own parser would round big numbers, so the text is judged here by the API's rules and kept.

const MOST_BYTES = 16 * 1024;
const MOST_LEVELS = 32;
const VALUE = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const SPACE = /[ \t\r\n]*/y;

class Broken extends Error {}

// `strict` judges by the rules for metadata; values of the key `raw` stay the text they are.
class Walk {
	at = 0;

	/** @param {string} text @param {{ strict?: boolean, raw?: string }} how */
	constructor(text, { strict, raw }) {
		this.text = text;
		this.strict = strict;
		this.raw = raw;
	}

	fail(what) {
		const lines = this.text.slice(0, this.at).split('\n');
		throw new Broken(`${what} (line ${lines.length}, column ${lines.at(-1).length + 1})`);
	}

	match(pattern) {
		pattern.lastIndex = this.at;
		const [found] = pattern.exec(this.text) ?? [];
		this.at += found?.length ?? 0;
		return found;
	}

	take(sign) {
		this.match(SPACE);
		if (this.text[this.at] !== sign) return false;
		this.at += 1;
		return true;
	}

	value(depth) {
		const isObject = this.take('{');
		if (!isObject && !this.take('[')) return this.scalar();
		if (this.strict && depth > MOST_LEVELS) this.fail(`must be nested at most ${MOST_LEVELS} levels deep`);
		const end = isObject ? '}' : ']';
		const inside = isObject ? Object.create(null) : [];
		if (this.take(end)) return inside;
		do {
			if (isObject) this.entry(inside, depth);
			else inside.push(this.value(depth + 1));
		} while (this.take(','));
		if (!this.take(end)) this.fail(`a comma or ${end} is missing`);
		return inside;
	}

	entry(fields, depth) {
		this.match(SPACE);
		if (this.text[this.at] !== '"') this.fail('a key in double quotes is missing');
		const key = this.scalar();
		if (this.strict && key in fields) this.fail(`must not contain the key “${key}” twice`);
		if (!this.take(':')) this.fail('a colon is missing after the key');
		const from = this.at;
		const value = this.value(depth + 1);
		fields[key] = key === this.raw ? this.text.slice(from, this.at).trim() : value;
	}

	scalar() {
		const text = this.match(VALUE);
		if (!text) this.fail('a value is missing, misspelt or not closed');
		const value = JSON.parse(text);
		if (!this.strict) return value;
		if (typeof value === 'number' && !Number.isFinite(value)) this.fail('a number is out of range');
		if (typeof value === 'string' && value.includes('\0')) this.fail('must not contain NUL');
		if (typeof value === 'string' && /\p{Surrogate}/u.test(value)) this.fail('has half of a surrogate pair');
		return value;
	}

	whole() {
		const value = this.value(1);
		this.match(SPACE);
		if (this.at < this.text.length) this.fail('there is something after the end');
		return value;
	}
}

// Reads an answer, but keeps every value of one name as text.
export const parseKeeping = (raw) => (text) => new Walk(text, { raw }).whole();

export const parseKeepingMetadata = parseKeeping('metadata');

// Why the API would refuse this as metadata; null when it would take it.
export function metadataProblem(text) {
	if (!/^[ \t\r\n]*\{/.test(text)) return 'Metadata must be a JSON object: { … }';
	const bytes = new TextEncoder().encode(compact(text)).length;
	if (bytes > MOST_BYTES) return `Metadata must be at most 16 KiB of JSON; this is ${(bytes / 1024).toFixed(1)} KiB.`;
	try {
		new Walk(text, { strict: true }).whole();
		return null;
	} catch (error) {
		if (error instanceof Broken) return `Metadata: ${error.message}.`;
		throw error;
	}
}

// The text in its parts, without the white space between them.
const tokens = (text) => text.match(/"(?:[^"\\]|\\[^])*"?|[{}[\],:]|[^\s"{}[\],:]+/g) ?? [];

// The same JSON on one line, every value as it was typed.
export const compact = (text) => tokens(text).join('');

// And on many.
export function pretty(text) {
	let depth = 0;
	let before = '';
	const line = () => `\n${'  '.repeat(depth)}`;
	let out = '';
	for (const token of tokens(text)) {
		const opened = before === '{' || before === '[';
		const closes = token === '}' || token === ']';
		if (closes) depth -= 1;
		if (before === ',' || opened !== closes) out += line();
		out += token === ':' ? ': ' : token;
		if (token === '{' || token === '[') depth += 1;
		before = token;
	}
	return out;
}
