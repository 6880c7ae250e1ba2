// The words of this page, in the language in which it came: it carries them itself.

import { h } from './dom.js';

export const LANGUAGE = document.documentElement.lang;

// English as the English write dates.
export const LOCALE = LANGUAGE === 'en' ? 'en-GB' : LANGUAGE;

const WORDS = JSON.parse(document.querySelector('meta[name=words]')?.content || '{}');

// A text in its parts: every value in its place, text or element. What a value says is never read as a place.
export const parts = (key, values = {}) => (WORDS[key] ?? key).split(/\{(\w+)\}/).map((part, at) => (at % 2 ? values[part] ?? '' : part));

const isRtl = document.documentElement.dir === 'rtl';

// Letters that are written from right to left, and signs that turn the direction.
const TURNS = /[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

// A value kept apart from the text around it where no element can do so (the isolates of UAX 9), if that makes a difference.
export const apart = (value) => (typeof value === 'string' && (isRtl || TURNS.test(value)) ? `\u2068${value}\u2069` : value);

// The same as one text. Each value is kept apart, for a name may be written from right to left.
export const t = (key, values = {}) => parts(key, Object.fromEntries(Object.entries(values).map(([name, value]) => [name, apart(value)]))).join('');

// The same in a sentence on the page, by elements.
export const sentence = (key, values) => parts(key, Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value instanceof Node ? value : h('bdi', value)])));

export const hasText = (key) => Object.hasOwn(WORDS, key);

const PLURAL = new Intl.PluralRules(LOCALE);

export const number = (amount) => amount.toLocaleString(LOCALE);

// Catalogues know two forms; what a language has between them is said as `other`.
export const pluralForm = (amount) => (PLURAL.select(amount) === 'one' ? 'one' : 'other');

// A text with a count in it.
export const counted = (key, amount, values) => t(`${key}.${pluralForm(amount)}`, { count: number(amount), ...values });
