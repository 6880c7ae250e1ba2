// Questions and small forms in the browser's own modal dialogs: the keyboard stays inside, Escape and Back leave, the focus returns.
// A closed dialog is gone from the page with everything it showed. Edited fields are not left without a question.

import { curlLine } from './curl.js';
import { h, icon, uid } from './dom.js';
import { focusTitle } from './focus.js';
import { form } from './form.js';
import { spareEntry } from './place.js';
import { t } from './text.js';
import { toast, toasts } from './toast.js';
import { busy, button, notice } from './ui.js';
import { discard, unsaved } from './unsaved.js';

export const topDialog = () => [...document.querySelectorAll('dialog[open]')].at(-1) ?? null;

export const closeDialogs = () => document.querySelectorAll('dialog[open]').forEach((one) => one.close());

/**
 * `stay(how)` may hold the dialog open, by answering true, when somebody leaves it by `escape`, `cross` or `back`; by itself it asks
 * where a form was edited. `describedBy`: the element that a screen reader reads with the title.
 */
/** @param {any} title @param {any} content @param {OpenOptions} [options] */
export function open(title, content, { wide, role, describedBy, stay, onclose } = {}) {
	const [id, back] = [uid(), /** @type {HTMLElement | null} */ (document.activeElement)];
	const dialog = h('dialog', { class: wide && 'wide', role, closedby: 'none', 'aria-labelledby': id, 'aria-describedby': describedBy?.id });
	dialog.leave = (how) => {
		if (dialog !== topDialog() || stay?.(how)) return;
		if (unsaved(dialog)) askToDiscard(dialog, () => dialog.close());
		else dialog.close();
	};
	const close = h('button.round', { 'aria-label': t('panel.close'), onclick: () => dialog.leave('cross') }, icon('close'));
	dialog.append(h('header', h('h2', { id, tabindex: '-1' }, title), close), h('div.dialog-body', content(dialog)), toasts());
	dialog.addEventListener('cancel', (event) => {
		event.preventDefault();
		dialog.leave('escape');
	});
	dialog.addEventListener('close', () => {
		dialog.remove();
		if (document.activeElement === document.body) (back?.isConnected ? back : null)?.focus();
		if (document.activeElement === document.body) focusTitle();
		onclose?.();
	});
	document.body.append(dialog);
	dialog.showModal();
	spareEntry();
	dialog.querySelector('[autofocus], .dialog-body :is(input, select, textarea)')?.focus();
	return dialog;
}

// A browser lets the second Escape through, whatever is said to the first one, so that it never gets to see any.
addEventListener('keydown', (event) => {
	if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing || !topDialog()) return;
	event.preventDefault();
	topDialog().leave?.('escape');
});

// A question: Cancel at the left, what it is about at the right. `request` answers what it sends, to be copied as a command.
/** @param {QuestionOptions} options */
export function question({ title, text, no = t('panel.cancel'), actions, request }) {
	const told = h('p.dialog-text', { id: uid() }, text);
	return open(title, (dialog) => [told, h('div.actions.end', button(no, () => dialog.close(), { autofocus: true }), actions(dialog)), curlLine(request)], { role: 'alertdialog', describedBy: told });
}

// Asks before what was typed in a part of the page is lost.
export function askToDiscard(part, goOn) {
	const drop = (dialog) => button(t('panel.discard.action'), () => {
		discard(part);
		dialog.close();
		goOn();
	}, { kind: 'danger' });
	question({ title: t('panel.discard.title'), text: t('panel.discard.text'), no: t('panel.discard.no'), actions: drop });
}

// Asks first. `run` does it and answers what to say then; a refusal is shown in the question.
/** @param {ConfirmOptions} options */
export function confirm({ title, text, action, kind = 'danger', run, done, request }) {
	const say = notice();
	const agree = (dialog) => async () => {
		const said = await run();
		dialog.close();
		toast(said);
		done?.();
	};
	const yes = (dialog) => {
		const element = button(action, () => busy(element, () => agree(dialog)().catch(say.fail)), { kind });
		return element;
	};
	question({ title, text: [text, say], actions: yes, request });
}

// A form in a dialog. What `onsubmit` answers is said once the dialog has closed.
/** @param {AskOptions} options */
export function ask({ title, text, onsubmit, done, wide, request, ...rest }) {
	const told = text && h('p.dialog-text', { id: uid() }, text);
	open(title, (dialog) => {
		const submit = async () => {
			const said = await onsubmit();
			dialog.close();
			if (typeof said === 'string') toast(said);
			done?.(said);
		};
		return [told, form({ ...rest, cancel: () => dialog.close(), onsubmit: submit }), curlLine(request)];
	}, { wide, describedBy: told });
}
