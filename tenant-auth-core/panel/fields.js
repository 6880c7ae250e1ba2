// Labelled inputs, each with a line for its hint or error, so that nothing moves.

import { h, uid } from './dom.js';
import { live } from './live.js';
import { t } from './text.js';

/**
 * `type` is an input's or `textarea`; `options` ([[value, text]]) make a select. `value` reads and writes; `fail` shows an error
 * until something is typed.
 */
/** @param {FieldOptions} options */
export function field({ label, name, type = 'text', hint = '', options, value = '', optional = false, ...rest }) {
	const note = h('p.hint', { id: uid() }, hint);
	const given = { id: uid(), name, 'aria-describedby': note.id, required: !optional, ...rest };
	const choices = options?.map(([key, text]) => h('option', { value: key, selected: key === value }, text));
	const input = choices ? h('select', given, choices) : type === 'textarea' ? h('textarea', { spellcheck: 'false', ...given, value }) : h('input', { type, ...given, value });
	const control = type === 'password' ? h('div.reveal', input, reveal(input)) : input;
	const element = h('div.field', h('label', { for: given.id }, label, optional && h('span.optional', ` ${t('field.optional')}`)), control, note);
	const fail = (message) => {
		element.classList.toggle('wrong', Boolean(message));
		note.textContent = message || hint;
		input.setAttribute('aria-invalid', String(Boolean(message)));
	};
	input.addEventListener('input', () => fail(''));
	Object.defineProperty(element, 'value', { get: () => input.value, set: (text) => (input.value = text) });
	return Object.assign(element, {
		input, fail,
		complains() {
			const problem = problemOf(input);
			if (problem) fail(problem);
			return Boolean(problem);
		},
	});
}

// In the words of this page: a browser has its own, in its own language.
function problemOf({ validity, type, title, minLength }) {
	if (validity.valid) return null;
	if (validity.valueMissing) return t('problem.required');
	if (validity.typeMismatch) return type === 'email' ? t('problem.email') : t('problem.url');
	if (validity.tooShort) return t('problem.short', { least: minLength });
	if (validity.patternMismatch) return t('problem.form', { form: title });
	return t('problem.incomplete');
}

function reveal(input) {
	const toggle = h('button.eye', { 'aria-label': t('field.show_password') }, t('field.show'));
	toggle.addEventListener('click', () => {
		const shown = input.type === 'password';
		input.type = shown ? 'text' : 'password';
		toggle.ariaLabel = shown ? null : t('field.show_password');
		toggle.textContent = shown ? t('field.hide') : t('field.show');
	});
	return toggle;
}

export function checkbox(name, value, label, checked, hint) {
	const input = h('input', { type: 'checkbox', name, value, checked });
	return Object.assign(h('label.check', input, h('span', label, hint && h('small', hint))), { input });
}

// A group of checkboxes, with a place for an error.
export function choices(legend, ...content) {
	const error = live('alert', '.hint');
	const element = h('fieldset', h('legend', legend), content, error);
	const fail = (message) => {
		element.classList.toggle('wrong', Boolean(message));
		if (message) error.say(message);
		else error.clear();
	};
	element.addEventListener('change', () => fail(''));
	return Object.assign(element, { input: element.querySelector('input'), fail, picked: () => [...element.querySelectorAll('input:checked:enabled')].map((one) => one.value) });
}

const VERBATIM = { autocapitalize: 'none', spellcheck: 'false' };

/** @param {Partial<FieldOptions>} [rest] */
export const slugField = (rest) => field({
	label: t('field.organization'), name: 'org', pattern: '[a-z0-9]+(-[a-z0-9]+)*', minlength: 2, maxlength: 63, title: t('field.slug_form'),
	...VERBATIM, ...rest,
});
/** @param {Partial<FieldOptions>} [rest] */
export const emailField = (rest) => field({ label: t('field.email'), name: 'email', type: 'email', maxlength: 254, ...rest });
/** @param {Partial<FieldOptions>} [rest] */
export const nameField = (rest) => field({ label: t('field.name'), name: 'name', maxlength: 100, autocomplete: 'off', ...rest });
/** @param {Partial<FieldOptions>} [rest] */
export const passwordField = (rest) => field({ label: t('field.your_password'), name: 'password', type: 'password', autocomplete: 'current-password', ...rest });
/** @param {Partial<FieldOptions>} [rest] */
export const newPasswordField = (rest) =>
	field({ label: t('field.new_password'), name: 'newPassword', type: 'password', autocomplete: 'new-password', hint: t('field.new_password_hint'), ...rest });
// Password managers file the password of the form under this address.
export const ownerField = (email) => h('input', { type: 'email', autocomplete: 'username', value: email, hidden: true, readOnly: true });
// Digits, unless somebody asks for letters: phones show the keys for one or the other.
export function codeField(hint = t('field.code_hint'), isDigits = false) {
	const element = field({ label: t('field.code'), name: 'code', autocomplete: 'one-time-code', inputmode: 'numeric', ...VERBATIM, maxlength: 40, hint });
	const letters = h('button.link', { onclick: () => {
		element.input.inputMode = 'text';
		letters.remove();
		element.input.focus();
	} }, t('field.use_recovery'));
	if (!isDigits) element.append(letters);
	return element;
}
export const roleField = (value = 'member') =>
	field({ label: t('panel.role'), name: 'role', value, options: [['member', t('panel.role.member')], ['org_admin', t('panel.role.org_admin')]], hint: t('panel.role.hint') });
export const appField = (value) =>
	field({ label: t('panel.app.label'), name: 'appUrl', type: 'url', value: value ?? '', optional: true, placeholder: 'https://app.example.com', hint: t('panel.app.hint') });
