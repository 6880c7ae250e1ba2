// Times and devices for people: in the reader's zone, the exact moment one hover away.

import { h } from './dom.js';
import { LOCALE, t } from './text.js';

const DAY = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium' });
const MINUTE = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'short' });
const EXACT = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'full', timeStyle: 'long' });
const RELATIVE = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'always' });
/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const STEPS = [['second', 60], ['minute', 60], ['hour', 24], ['day', 30], ['month', 12], ['year', Infinity]];

const time = (iso, text) => h('time', { datetime: iso, title: EXACT.format(new Date(iso)) }, text);

// `20 Nov 2026`
export const day = (iso) => time(iso, DAY.format(new Date(iso)));

// A day of the calendar, such as `2026-11-20`, is the same wherever it is read.
const CALENDAR_DAY = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', timeZone: 'UTC' });

// `20 Nov`
export const dayText = (date) => CALENDAR_DAY.format(new Date(date));

// `20 Nov 2026, 08:21`
export const moment = (iso) => time(iso, MINUTE.format(new Date(iso)));

function relative(amount, rounded) {
	const [unit] = STEPS.find(([, size]) => Math.abs(amount) < size * 0.95 || ((amount /= size), false));
	return RELATIVE.format(rounded(amount), unit);
}

// `in 3 minutes`, rather too late than too soon.
export const inTime = (seconds) => relative(seconds, Math.ceil);

// `3 minutes ago`, `in 6 days`
export function ago(iso) {
	const amount = (Date.parse(iso) - Date.now()) / 1000;
	if (Math.abs(amount) < 45) return time(iso, amount > 0 ? t('panel.time.soon') : t('panel.time.now'));
	return time(iso, relative(amount, Math.round));
}

const BROWSERS = [[/Edg\//, 'Edge'], [/Firefox\//, 'Firefox'], [/Chrome\/|CriOS/, 'Chrome'], [/Safari\//, 'Safari']];
const SYSTEMS = [[/iPhone|iPad/, 'iOS'], [/Android/, 'Android'], [/Windows/, 'Windows'], [/Mac OS/, 'macOS'], [/Linux/, 'Linux']];

// `Firefox on Linux`, as far as a User-Agent tells.
export function device(userAgent) {
	const named = (list) => list.find(([pattern]) => pattern.test(userAgent ?? ''))?.[1];
	const [browser, system] = [named(BROWSERS), named(SYSTEMS)];
	const program = browser ?? (userAgent ? userAgent.split(/[\s/]/)[0].slice(0, 40) : t('panel.device.unknown'));
	return system ? t('panel.device.on', { browser: program, system }) : program;
}

export const roleName = (role) => (role === 'org_admin' ? t('panel.role.org_admin') : t('panel.role.member'));

// What stands in a picture's place: the first sign of a name as people see signs, which may be many units of its text.
export const initial = (text) => [...new Intl.Segmenter(LOCALE).segment(text)][0]?.segment ?? '';
