// The small parts of every view.

import { ApiError } from './api.js';
import { fill, h, icon } from './dom.js';
import { roleName } from './format.js';

// `kind`: primary, danger, danger-quiet, small or none; `mark`: an icon's name.
export const button = (text, onclick, { kind = '', mark, ...rest } = {}) =>
	h('button', { class: `button ${kind}`, onclick, ...rest }, mark && icon(mark), h('span', text));

export const addButton = (text, onclick) => button(text, onclick, { kind: 'primary', mark: 'plus' });

// A button of a table's row. Screen readers hear what it is about.
export const rowButton = (text, about, onclick, kind = '', rest = {}) => button(text, onclick, { kind: `small ${kind}`, 'aria-label': `${text} ${about}`, ...rest });

export const linkButton = (text, href, kind = '') => h('a', { class: `button ${kind}`, href }, text);

// `tone`: good, bad, wait, tint or none.
export const badge = (text, tone = '') => h('span', { class: `badge ${tone}` }, text);

const STATES = { active: ['Active', 'good'], suspended: ['Suspended', 'bad'], disabled: ['Disabled', 'bad'] };

export const statusBadge = ({ status }) => badge(...(STATES[status] ?? [status]));

export const roleBadge = ({ role }) => badge(roleName(role), role === 'org_admin' ? 'tint' : '');

// A place for one message; screen readers say it when it comes.
export function notice() {
	const element = h('div.notice', { role: 'alert', hidden: true });
	let clock;
	const say = (tone, ...content) => {
		clearInterval(clock);
		element.className = `notice ${tone}`;
		element.hidden = false;
		fill(element, content);
	};
	const wait = (seconds) => {
		const until = Date.now() + seconds * 1000;
		const left = element.appendChild(h('strong', { 'aria-hidden': 'true' }));
		const tick = () => {
			const rest = Math.ceil((until - Date.now()) / 1000);
			left.textContent = rest > 0 ? ` ${rest} s left.` : ' You can try again now.';
			if (rest <= 0) clearInterval(clock);
		};
		tick();
		clock = setInterval(tick, 1000);
	};
	return Object.assign(element, {
		say,
		fail(error) {
			const known = error instanceof ApiError;
			if (!known) console.error(error);
			say('bad', known ? error.message : 'Something went wrong. Reload the page and try again.');
			if (error.retryAfter) wait(error.retryAfter);
		},
		clear() {
			clearInterval(clock);
			element.hidden = true;
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

export function toast(text) {
	const region = document.getElementById('toasts');
	// A modal dialog covers everything that is not inside it.
	const place = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body;
	if (region.parentNode !== place) place.append(region);
	const element = h('div.toast', icon('check'), text);
	region.replaceChildren(element);
	setTimeout(() => element.remove(), 5000);
}

export async function copy(text) {
	try {
		await navigator.clipboard.writeText(text);
		toast('Copied to the clipboard.');
		return true;
	} catch {
		toast('This browser did not allow copying. Select the text and copy it.');
		return false;
	}
}

// Loads and shows something; `reload()` keeps the old until the new is there.
export function loading(load, render) {
	const box = h('div.loading');
	const reload = async () => {
		if (!box.querySelector(':scope > .whole')) fill(box, h('div.skeleton', { role: 'status', 'aria-label': 'Loading' }, [1, 2, 3].map(() => h('div.bar'))));
		try {
			fill(box, h('div.whole', render(await load())));
		} catch (error) {
			const say = notice();
			fill(box, h('div.failed', say, button('Try again', reload)));
			say.fail(error);
		}
	};
	reload();
	return Object.assign(box, { reload });
}

export const empty = (mark, title, text, action) => h('div.empty', icon(mark), h('h2', title), h('p', text), action);

// A table that turns into cards where it is narrow; some browsers then forget its roles.
export function table(caption, columns, rows) {
	const head = columns.map((column) => h('th', { role: 'columnheader', scope: 'col' }, column || h('span.unseen', 'Actions')));
	const cell = (content, index) => h('td', { role: 'cell', 'data-label': columns[index], class: columns[index] ? null : 'row-actions' }, content);
	return h('table', { role: 'table' },
		h('caption.unseen', caption),
		h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, head)),
		h('tbody', { role: 'rowgroup' }, rows.map((cells) => h('tr', { role: 'row' }, cells.map(cell)))));
}

export const card = (title, text, ...content) => h('section.card', h('header', h('h2', title), text && h('p', text)), content);

export const facts = (...pairs) => h('dl.facts', pairs.map(([name, value]) => h('div', h('dt', name), h('dd', value))));

export const heading = (title, text, ...actions) =>
	h('header.view-head', h('div', h('h1', { tabindex: '-1' }, title), text && h('p', text)), h('div.actions', actions));
