// Forms. A refusal is shown at its field, else above the button; typed values stay.

import { ApiError } from './api.js';
import { h } from './dom.js';
import { busy, notice } from './ui.js';

// The field an error is about, by its code.
const FIELD_OF = {
	weak_password: ['newPassword', 'password'], wrong_password: ['currentPassword', 'password'], wrong_code: ['code'],
	unknown_organization: ['org'], invalid_slug: ['org'], slug_taken: ['slug'], slug_reserved: ['slug'], already_member: ['email'], already_invited: ['email'],
};

// `check` may refuse beforehand, by answering a field's name and a message.
export function form({ fields, submit, kind = 'primary', extra = [], check, onsubmit }) {
	const say = notice();
	const send = h('button.button', { type: 'submit' }, h('span', submit));
	if (kind) send.classList.add(kind);
	const named = (...names) => fields.find((one) => names.includes(one.input?.name));
	const mark = (target, message) => {
		target.fail(message);
		target.input.focus();
	};
	const fail = (error) => {
		const text = error instanceof ApiError ? error.message : '';
		const [, name, rest] = /^(\w+)[\w.[\]]*: (.+)/.exec(text) ?? [];
		if (error.code === 'invalid_request' && named(name)) return mark(named(name), rest[0].toUpperCase() + rest.slice(1));
		const target = named(...(FIELD_OF[error.code] ?? []));
		if (target) mark(target, target.input.name === 'org' ? 'No organization has this short name.' : text);
		else say.fail(error);
	};
	const element = h('form.form', { novalidate: true, method: 'post' }, fields, say, h('div.actions', send, extra));
	element.addEventListener('submit', (event) => {
		event.preventDefault();
		say.clear();
		const [wrong] = fields.filter((one) => one.complains?.());
		if (wrong) return wrong.input.focus();
		const refused = check?.();
		if (refused) return mark(named(refused[0]), refused[1]);
		busy(send, () => onsubmit().catch(fail));
	});
	return Object.assign(element, { say, send });
}
