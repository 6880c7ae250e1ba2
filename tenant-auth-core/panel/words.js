// What errors are called here, where the API's own words are for programmers or in another language.

import { ApiError } from './api.js';
import { inTime } from './format.js';
import { hasText, LANGUAGE, t } from './text.js';

// Of these the API's own words say more, to whoever reads English.
const SPECIFIC = ['invalid_request', 'weak_password', 'limit_reached'];
const isEnglish = LANGUAGE.startsWith('en');

// Most limits of attempts end within the hour, and most who wait for longer met a quota: the code does not tell.
const isQuota = (error) => error.code === 'rate_limited' && error.retryAfter > 3600 && hasText('error.quota');

// How long to wait, as a sentence.
export const againIn = (error) => (error.code === 'rate_limited' && error.retryAfter ? t('error.again', { when: inTime(error.retryAfter) }) : '');

// Why, without how long to wait.
export function reason(error) {
	if (!(error instanceof ApiError)) return t('error.broken');
	if (isQuota(error)) return t('error.quota');
	const key = hasText(`error.${error.code}`) ? `error.${error.code}` : `panel.error.${error.code}`;
	const ours = hasText(key) && !(isEnglish && error.message && SPECIFIC.includes(error.code));
	return ours ? t(key, { status: error.status }) : error.message;
}

export const words = (error) => [reason(error), againIn(error)].filter(Boolean).join(' ');

// What a field must be that the API did not accept. The API says which field it is and, in English, which of its rules was broken; another
// language says the rules of the field, or that what stands there is not accepted.
export function wanted(error, field) {
	if (isEnglish && error.message) {
		const rule = error.message.replace(/^[\w.[\]]+: /, '');
		return rule[0].toUpperCase() + rule.slice(1);
	}
	const key = hasText(`invalid.${field}`) ? `invalid.${field}` : `panel.invalid.${field}`;
	return t(hasText(key) ? key : 'error.invalid_request');
}
