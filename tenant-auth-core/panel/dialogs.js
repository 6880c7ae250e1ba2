// Questions, small forms, and secrets that are shown once, in the browser's own modal dialogs: the keyboard stays inside, Escape
// leaves, the focus returns. A closed dialog is gone from the page with everything it showed.

import { api } from './api.js';
import { h, icon, uid } from './dom.js';
import { field } from './fields.js';
import { form } from './form.js';
import { busy, button, copy, notice, toast } from './ui.js';

export function open(title, content, { wide, onclose } = {}) {
	const [id, back] = [uid(), document.activeElement];
	const dialog = h('dialog', { class: wide && 'wide', 'aria-labelledby': id });
	const close = h('button.round', { 'aria-label': 'Close', onclick: () => dialog.close() }, icon('close'));
	dialog.append(h('header', h('h2', { id }, title), close), h('div.dialog-body', content(dialog)));
	dialog.addEventListener('close', () => {
		document.body.append(document.getElementById('toasts'));
		dialog.remove();
		if (document.activeElement === document.body) (back?.isConnected ? back : document.querySelector('h1'))?.focus();
		onclose?.();
	});
	document.body.append(dialog);
	dialog.showModal();
	dialog.querySelector('[autofocus], .dialog-body :is(input, select, textarea)')?.focus();
	return dialog;
}

// Asks first. `run` does it and answers what to say then, a text or `{message}`; a refusal is shown in the question.
export function confirm({ title, text, action, kind = 'danger', run, done }) {
	open(title, (dialog) => {
		const say = notice();
		const agree = async () => {
			const said = await run();
			dialog.close();
			toast(said.message ?? said);
			done?.();
		};
		const yes = button(action, () => busy(yes, () => agree().catch(say.fail)), { kind });
		return [h('p.dialog-text', text), say, h('div.actions.end', button('Cancel', () => dialog.close(), { autofocus: true }), yes)];
	});
}

// A form in a dialog. What `onsubmit` answers is said once the dialog has closed.
export function ask({ title, text, onsubmit, done, wide, ...rest }) {
	open(title, (dialog) => {
		const submit = async () => {
			const said = await onsubmit();
			dialog.close();
			const told = said?.message ?? said;
			if (typeof told === 'string') toast(told);
			done?.(said);
		};
		return [text && h('p.dialog-text', text), form({ ...rest, extra: button('Cancel', () => dialog.close()), onsubmit: submit })];
	}, { wide });
}

// Replaces a secret by a new one, and asks how long the old one still counts.
export function askOverlap(path, options) {
	const overlap = field({ label: 'How long does the old one still work?', name: 'overlapSeconds', value: 86400, options: [[0, 'Not at all'], [3600, 'For an hour'], [86400, 'For a day'], [604800, 'For a week']] });
	ask({ ...options, fields: [overlap], onsubmit: () => api('POST', path, { overlapSeconds: Number(overlap.value) }) });
}

// Shows a secret, once: nobody can ask for it again. Escape waits until it was copied.
export function showOnce({ title, text, label, secret, onclose }) {
	let copied = false;
	const dialog = open(title, (self) => {
		const done = () => {
			input.value = '';
			self.close();
		};
		const id = uid();
		const input = h('input.secret', { id, value: secret, readOnly: true, autocomplete: 'off', onfocus: () => input.select() });
		const take = button('Copy', async () => (copied = (await copy(secret)) || copied), { kind: 'primary', mark: 'copy' });
		return [
			h('p.dialog-text', text),
			h('div.field', h('label', { for: id }, label), h('div.with-button', input, take)),
			h('p.notice.wait', 'This is the only time it is shown. Keep it where your other secrets are.'),
			h('div.actions.end', button('I have stored it', done)),
		];
	}, { onclose });
	dialog.addEventListener('cancel', (event) => copied || event.preventDefault());
}
