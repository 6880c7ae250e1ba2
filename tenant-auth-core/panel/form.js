// Forms. A refusal is shown at its field, else above the button; typed values stay.

import { ApiError } from './api.js';
import { h } from './dom.js';
import { t } from './text.js';
import { busy, button, notice } from './ui.js';
import { watchEdits } from './unsaved.js';
import { wanted, words } from './words.js';

// The field an error is about, by its code.
const FIELD_OF = {
	weak_password: ['newPassword', 'password'], wrong_password: ['currentPassword', 'password'], wrong_code: ['code'],
	unknown_organization: ['org'], invalid_slug: ['org'], slug_taken: ['slug'], slug_reserved: ['slug'], already_member: ['email'], already_invited: ['email'],
};

// What was changed in what a form reads. The rest is not sent: somebody else may have changed it meanwhile.
export const changes = (before, now) => Object.fromEntries(Object.entries(now).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])));

/**
 * `check` may refuse beforehand, by answering a field's name and a message. With `cancel`, which leaves, the buttons stand as in a
 * question. `before` may ask first; nothing is sent when it
 * answers false. `keeps`: whether
 * what is typed is work that must not be lost.
 */
/** @param {FormOptions} options */
export function form({ fields, submit, kind = 'primary', extra = [], cancel, check, before, onsubmit, keeps = true }) {
	const say = notice();
	const send = h('button.button', { type: 'submit' }, h('span', submit));
	if (kind) send.classList.add(kind);
	const named = (...names) => fields.find((one) => names.includes(one.input?.name));
	const mark = (target, message) => {
		target.fail(message);
		target.input.focus();
	};
	const fail = (error) => {
		const text = error instanceof ApiError ? words(error) : '';
		// The innermost part that has a field here.
		const part = error.code === 'invalid_request' && (error.field ?? '').split(/[.[\]]+/).reverse().map((one) => named(one)).find(Boolean);
		if (part) return mark(part, wanted(error, part.input.name));
		const target = named(...(FIELD_OF[error.code] ?? []));
		if (target) mark(target, target.input.name === 'org' ? t('problem.no_organization') : text);
		else say.fail(error);
	};
	const buttons = cancel ? h('div.actions.end', button(t('panel.cancel'), cancel), send) : h('div.actions', send, extra);
	const element = h('form.form', { novalidate: true, method: 'post' }, fields, say, buttons);
	if (keeps) watchEdits(element);
	element.addEventListener('submit', async (event) => {
		event.preventDefault();
		say.clear();
		const [wrong] = fields.filter((one) => one.complains?.());
		if (wrong) return wrong.input.focus();
		const refused = check?.();
		if (refused) return mark(named(refused[0]), refused[1]);
		if (before && !await before()) return;
		const sent = element.typed?.();
		busy(send, () => onsubmit().then(() => element.settle?.(sent), fail));
	});
	return Object.assign(element, { say, send });
}
