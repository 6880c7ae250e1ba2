// Short messages at the foot of the page. Each place has a live region from the start, the page and every dialog.

import { h, icon } from './dom.js';
import { focusTitle } from './focus.js';
import { live, sayIn, silence } from './live.js';
import { t } from './text.js';

export const toasts = () => live('status', '.toasts');

const SHOWN = 6000;

// A refusal is said at once, and stays until it is closed or the next message comes.
export function toast(text, isBad = false) {
	// A dialog that closes with this is open until then.
	setTimeout(() => {
		// A modal dialog covers everything that is not inside it.
		const place = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body;
		const quiet = place.querySelector(':scope > .toasts');
		document.querySelector('.toasts[role=alert]')?.remove();
		if (!isBad) {
			const element = h('div.toast', icon('check'), h('span', text));
			sayIn(quiet, element);
			return setTimeout(() => element.remove(), SHOWN);
		}
		silence(quiet);
		const alert = live('alert', '.toasts');
		place.append(alert);
		const close = () => {
			alert.remove();
			focusTitle();
		};
		return alert.say(h('div.toast.bad', icon('warn'), h('span', text), h('button.round', { 'aria-label': t('panel.close'), onclick: close }, icon('close'))));
	});
}

export async function copy(text) {
	try {
		await navigator.clipboard.writeText(text);
		toast(t('panel.copy.done'));
		return true;
	} catch {
		toast(t('panel.copy.failed'), true);
		return false;
	}
}

// A small button that copies a text, such as an id; `name` says which.
export const copyButton = (text, name) => h('button.round', { 'aria-label': name, title: name, onclick: () => copy(text) }, icon('copy'));
