// Metadata as typed. JavaScript's own parser would round big numbers, so the text is judged here by the API's rules and kept.

import { LOCALE, t } from './text.js';

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
		throw new Broken(t('panel.json.at', { what, line: lines.length, column: lines.at(-1).length + 1 }));
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
		if (this.strict && depth > MOST_LEVELS) this.fail(t('panel.json.deep', { levels: MOST_LEVELS }));
		const end = isObject ? '}' : ']';
		const inside = isObject ? Object.create(null) : [];
		if (this.take(end)) return inside;
		do {
			if (isObject) this.entry(inside, depth);
			else inside.push(this.value(depth + 1));
		} while (this.take(','));
		if (!this.take(end)) this.fail(t('panel.json.comma', { end }));
		return inside;
	}

	entry(fields, depth) {
		this.match(SPACE);
		if (this.text[this.at] !== '"') this.fail(t('panel.json.key'));
		const key = this.scalar();
		if (this.strict && key in fields) this.fail(t('panel.json.twice', { key }));
		if (!this.take(':')) this.fail(t('panel.json.colon'));
		const from = this.at;
		const value = this.value(depth + 1);
		fields[key] = key === this.raw ? this.text.slice(from, this.at).trim() : value;
	}

	scalar() {
		const text = this.match(VALUE);
		if (!text) this.fail(t('panel.json.value'));
		const value = JSON.parse(text);
		if (!this.strict) return value;
		if (typeof value === 'number' && !Number.isFinite(value)) this.fail(t('panel.json.range'));
		if (typeof value === 'string' && value.includes('\0')) this.fail(t('panel.json.nul'));
		if (typeof value === 'string' && /\p{Surrogate}/u.test(value)) this.fail(t('panel.json.surrogate'));
		return value;
	}

	whole() {
		const value = this.value(1);
		this.match(SPACE);
		if (this.at < this.text.length) this.fail(t('panel.json.after'));
		return value;
	}
}

// Reads an answer, but keeps every value of one name as text.
export const parseKeeping = (raw) => (text) => new Walk(text, { raw }).whole();

export const parseKeepingMetadata = parseKeeping('metadata');

// Why the API would refuse this as metadata; null when it would take it.
export function metadataProblem(text) {
	if (!/^[ \t\r\n]*\{/.test(text)) return t('panel.json.object');
	const bytes = new TextEncoder().encode(compact(text)).length;
	if (bytes > MOST_BYTES) return t('panel.json.big', { size: (bytes / 1024).toLocaleString(LOCALE, { minimumFractionDigits: 1, maximumFractionDigits: 1, useGrouping: false }) });
	try {
		new Walk(text, { strict: true }).whole();
		return null;
	} catch (error) {
		if (error instanceof Broken) return t('panel.json.wrong', { why: error.message });
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
