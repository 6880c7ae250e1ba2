// Secrets that are shown once. Nobody can ask for them again, so their dialogs are left by a deliberate press only
// (behaviour.md, B232).

import { api } from './api.js';
import { ask, open, question } from './dialogs.js';
import { h, uid } from './dom.js';
import { field } from './fields.js';
import { copy, toast } from './toast.js';
import { button } from './ui.js';

// A dialog with something that is not shown again; `stored` is what its button says.
export function showSecret(title, content, { stored, ...options }) {
	const stay = (how) => {
		if (how === 'cross') askToForget(dialog);
		else toast(`This is shown only once. Press “${stored}” when it is safe.`);
		return true;
	};
	const dialog = open(title, content, { ...options, stay });
	return Object.assign(dialog, { isUnsaved: () => true });
}

const askToForget = (dialog) => question({
	title: 'Close it for good?', text: 'It cannot be shown again.', no: 'Go back',
	actions: (self) => button('Close for good', () => {
		self.close();
		dialog.close();
	}, { kind: 'danger' }),
});

// One secret, in a field to copy it from.
/** @param {SecretShown} options */
export function showOnce({ title, text, label, secret, onclose }) {
	const stored = 'I have stored it';
	const told = h('p.dialog-text', { id: uid() }, text);
	showSecret(title, (self) => {
		const done = () => {
			input.value = '';
			self.close();
		};
		const id = uid();
		const input = h('input.secret', { id, value: secret, readOnly: true, autocomplete: 'off', onfocus: () => input.select() });
		return [
			told,
			h('div.field', h('label', { for: id }, label), h('div.with-button', input, button('Copy', () => copy(secret), { kind: 'primary', mark: 'copy' }))),
			h('p.notice.wait', 'This is the only time it is shown. Keep it where your other secrets are.'),
			h('div.actions.end', button(stored, done)),
		];
	}, { stored, describedBy: told, onclose });
}

// Replaces a secret by a new one, and asks how long the old one still counts.
export function askOverlap(path, options) {
	const overlap = field({ label: 'How long does the old one still work?', name: 'overlapSeconds', value: 86400, options: [[0, 'Not at all'], [3600, 'For an hour'], [86400, 'For a day'], [604800, 'For a week']] });
	ask({ ...options, fields: [overlap], request: () => ['POST', path, { overlapSeconds: Number(overlap.value) }], onsubmit: () => api('POST', path, { overlapSeconds: Number(overlap.value) }) });
}
