// The words of this page, in the language in which it came: it carries them itself.

import { h } from './dom.js';

export const LANGUAGE = document.documentElement.lang;

// English as the English write dates.
export const LOCALE = LANGUAGE === 'en' ? 'en-GB' : LANGUAGE;

const WORDS = JSON.parse(document.querySelector('meta[name=words]')?.content || '{}');

// A text in its parts: every value in its place, text or element. What a value says is never read as a place.
export const parts = (key, values = {}) => (WORDS[key] ?? key).split(/\{(\w+)\}/).map((part, at) => (at % 2 ? values[part] ?? '' : part));

// The same as one text.
export const t = (key, values) => parts(key, values).join('');

// The same in a sentence on the page: each value is kept apart, for a name may be written from right to left.
export const sentence = (key, values) => parts(key, Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value instanceof Node ? value : h('bdi', value)])));

export const hasText = (key) => Object.hasOwn(WORDS, key);

const PLURAL = new Intl.PluralRules(LOCALE);

export const number = (amount) => amount.toLocaleString(LOCALE);

// Catalogues know two forms; what a language has between them is said as `other`.
export const pluralForm = (amount) => (PLURAL.select(amount) === 'one' ? 'one' : 'other');

// A text with a count in it.
export const counted = (key, amount, values) => t(`${key}.${pluralForm(amount)}`, { count: number(amount), ...values });
