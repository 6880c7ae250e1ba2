// Short messages at the foot of the page. Each place has a live region from the start, the page and every dialog, and is filled a
// moment later: screen readers are silent about a region that comes, or moves, together with its text.

import { h, icon } from './dom.js';
import { t } from './text.js';

export const toasts = () => h('div.toasts', { role: 'status' });

const SHOWN = 6000;

export function toast(text) {
	setTimeout(() => {
		// A modal dialog covers everything that is not inside it.
		const place = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body;
		const element = h('div.toast', icon('check'), text);
		place.querySelector(':scope > .toasts').replaceChildren(element);
		setTimeout(() => element.remove(), SHOWN);
	}, 40);
}

export async function copy(text) {
	try {
		await navigator.clipboard.writeText(text);
		toast(t('panel.copy.done'));
		return true;
	} catch {
		toast(t('panel.copy.failed'));
		return false;
	}
}

// A small button that copies a text, such as an id; `name` says which.
export const copyButton = (text, name) => h('button.round', { 'aria-label': name, title: name, onclick: () => copy(text) }, icon('copy'));
