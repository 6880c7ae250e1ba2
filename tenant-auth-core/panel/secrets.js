// Secrets that are shown once. Nobody can ask for them again, so their dialogs are left by a deliberate press only
// (behaviour.md, B232).

import { api } from './api.js';
import { ask, open, question } from './dialogs.js';
import { h, uid } from './dom.js';
import { field } from './fields.js';
import { t } from './text.js';
import { copy, toast } from './toast.js';
import { button } from './ui.js';

// A dialog with something that is not shown again; `stored` is what its button says.
export function showSecret(title, content, { stored, ...options }) {
	const stay = (how) => {
		if (how === 'cross') askToForget(dialog);
		else toast(t('panel.secret.stay', { stored }));
		return true;
	};
	const dialog = open(title, content, { ...options, stay });
	return Object.assign(dialog, { isUnsaved: () => true });
}

const askToForget = (dialog) => question({
	title: t('panel.secret.close.title'), text: t('panel.secret.close.text'), no: t('panel.secret.close.no'),
	actions: (self) => button(t('panel.secret.close.action'), () => {
		self.close();
		dialog.close();
	}, { kind: 'danger' }),
});

// One secret, in a field to copy it from.
/** @param {SecretShown} options */
export function showOnce({ title, text, label, secret, onclose }) {
	const stored = t('panel.secret.stored');
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
			h('div.field', h('label', { for: id }, label), h('div.with-button', input, button(t('panel.copy'), () => copy(secret), { kind: 'primary', mark: 'copy' }))),
			h('p.notice.wait', t('panel.secret.once')),
			h('div.actions.end', button(stored, done)),
		];
	}, { stored, describedBy: told, onclose });
}

// Replaces a secret by a new one, and asks how long the old one still counts.
export function askOverlap(path, options) {
	const overlap = field({ label: t('panel.overlap.label'), name: 'overlapSeconds', value: 86400, options: [[0, t('panel.overlap.none')], [3600, t('panel.overlap.hour')], [86400, t('panel.overlap.day')], [604800, t('panel.overlap.week')]] });
	ask({ ...options, fields: [overlap], request: () => ['POST', path, { overlapSeconds: Number(overlap.value) }], onsubmit: () => api('POST', path, { overlapSeconds: Number(overlap.value) }) });
}
