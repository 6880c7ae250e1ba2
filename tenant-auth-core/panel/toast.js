// Short messages at the foot of the page. Each place has a live region from the start, the page and every dialog.

import { h, icon } from './dom.js';
import { live, sayIn } from './live.js';
import { t } from './text.js';

export const toasts = () => live('status', '.toasts');

const SHOWN = 6000;

export function toast(text) {
	// A dialog that closes with this is open until then.
	setTimeout(() => {
		// A modal dialog covers everything that is not inside it.
		const place = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body;
		const element = h('div.toast', icon('check'), h('span', text));
		sayIn(place.querySelector(':scope > .toasts'), element);
		setTimeout(() => element.remove(), SHOWN);
	});
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
