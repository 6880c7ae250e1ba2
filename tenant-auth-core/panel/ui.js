// The small parts of every view.

import { ApiError, is } from './api.js';
import { fill, h, icon } from './dom.js';
import { keepFocus } from './focus.js';
import { inTime, roleName } from './format.js';
import { live, waiting } from './live.js';
import { apart, t } from './text.js';
import { againIn, reason } from './words.js';

// `kind`: primary, danger, danger-quiet, small or none; `mark`: an icon's name.
/** @param {any} text @param {any} onclick @param {ButtonOptions} [options] */
export const button = (text, onclick, { kind = '', mark, ...rest } = {}) =>
	h('button', { class: `button ${kind}`, onclick, ...rest }, mark && icon(mark), h('span', text));

export const addButton = (text, onclick) => button(text, onclick, { kind: 'primary', mark: 'plus' });

// A button of a table's row. Screen readers hear what it is about.
/** @param {string} text @param {string} about @param {any} onclick @param {string} [kind] @param {ButtonOptions} [rest] */
export const rowButton = (text, about, onclick, kind = '', rest = {}) => button(text, onclick, { kind: `small ${kind}`, 'aria-label': `${text} ${apart(about)}`, ...rest });

export const linkButton = (text, href, kind = '') => h('a', { class: `button ${kind}`, href }, text);

// `tone`: good, bad, wait, tint or none.
export const badge = (text, tone = '') => h('span', { class: `badge ${tone}` }, text);

const STATES = { active: [t('panel.state.active'), 'good'], suspended: [t('panel.state.suspended'), 'bad'], disabled: [t('panel.state.disabled'), 'bad'] };

export const statusBadge = ({ status }) => badge(...(STATES[status] ?? [status]));

export const roleBadge = ({ role }) => badge(roleName(role), role === 'org_admin' ? 'tint' : '');

// A place for one message; screen readers say it when it comes.
export function notice() {
	const element = live('alert');
	const { say: put, clear } = element;
	let clock;
	const say = (tone, ...content) => {
		clearInterval(clock);
		put(h('div', { class: `notice ${tone}` }, content));
	};
	// Counts down for those who see it; screen readers hear the time once.
	const wait = (seconds, sentence) => {
		const until = Date.now() + seconds * 1000;
		const left = h('span', { 'aria-hidden': 'true' });
		const tick = () => {
			const rest = Math.ceil((until - Date.now()) / 1000);
			left.textContent = rest <= 0 ? t('try_now') : rest < 90 ? t('try_in', { seconds: rest }) : t('error.again', { when: inTime(rest) });
			if (rest <= 0 || (rest < seconds && !element.isConnected)) clearInterval(clock);
		};
		tick();
		clock = setInterval(tick, 1000);
		return [h('span.unseen', sentence), left];
	};
	return Object.assign(element, {
		say,
		fail(error) {
			if (!(error instanceof ApiError)) console.error(error);
			clearInterval(clock);
			put(h('div.notice.bad', reason(error), ' ', error.retryAfter && wait(error.retryAfter, againIn(error))));
		},
		clear() {
			clearInterval(clock);
			clear();
		},
	});
}

// Does one thing at a time for a button, which shows it.
export async function busy(element, work) {
	if (element.getAttribute('aria-busy')) return;
	element.setAttribute('aria-busy', 'true');
	try {
		return await work();
	} finally {
		element.removeAttribute('aria-busy');
	}
}

/**
 * Loads and shows something; `reload()` keeps the old until the new is there. `failed(error)` may answer what to show when it cannot
 * be loaded, in place of Try again.
 */
export function loading(load, render, failed) {
	const box = h('div.loading');
	const tell = (error) => {
		const say = notice();
		const instead = failed?.(error) ?? (is(error, 'not_found') ? [] : button(t('try_again'), reload));
		fill(box, h('div.failed', say, instead));
		say.fail(error);
	};
	const reload = async () => {
		if (!box.querySelector(':scope > .whole')) fill(box, waiting('.skeleton', t('loading'), [1, 2, 3].map(() => h('div.bar'))));
		try {
			const loaded = await load();
			keepFocus(box, () => fill(box, h('div.whole', render(loaded))));
		} catch (error) {
			tell(error);
		}
	};
	reload();
	return Object.assign(box, { reload });
}

export const empty = (mark, title, text, action) => h('div.empty', icon(mark), h('h2', title), h('p', text), action);

export const tableRow = (columns, cells) => h('tr', { role: 'row' }, cells.map((content, index) =>
	h('td', { role: 'cell', 'data-label': columns[index], class: columns[index] ? null : 'row-actions' }, content)));

// A table that turns into cards where it is narrow; some browsers then forget its roles.
export function table(caption, columns, rows) {
	const head = columns.map((column) => h('th', { role: 'columnheader', scope: 'col' }, column || h('span.unseen', t('panel.actions'))));
	return h('table', { role: 'table' },
		h('caption.unseen', caption),
		h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, head)),
		h('tbody', { role: 'rowgroup' }, rows.map((cells) => tableRow(columns, cells))));
}

export const card = (title, text, ...content) => h('section.card', h('header', h('h2', title), text && h('p', text)), content);

export const facts = (...pairs) => h('dl.facts', pairs.map(([name, value]) => h('div', h('dt', name), h('dd', value))));

export const heading = (title, text, ...actions) =>
	h('header.view-head', h('div', h('h1', { tabindex: '-1' }, title), text && h('p', text)), h('div.actions', actions));
