// A person's own name, texts and address. A new address counts once its mailed link was used.

import { api, ask, badge, busy, button, card, codeField, emailField, facts, field, form, h, heading, loading, nameField, notice, passwordField, t, toast, topDialog } from '../kit.js';

export function profile(context) {
	return [heading(t('panel.view.profile'), t('panel.profile.lead')), loading(() => api('GET', '/auth/profile'), ({ user }) => [about(context, user), address(user)])];
}

function about(context, user) {
	const name = nameField({ value: user.name, autocomplete: 'name' });
	const bio = field({ label: t('panel.profile.bio'), name: 'bio', type: 'textarea', rows: 3, value: user.profile.bio ?? '', optional: true, maxlength: 1000, spellcheck: 'true' });
	const phone = field({ label: t('panel.profile.phone'), name: 'phone', type: 'tel', value: user.profile.phone ?? '', optional: true, maxlength: 32, autocomplete: 'tel' });
	return card(t('panel.profile.about'), null, form({
		fields: [name, bio, phone], submit: t('panel.profile.save'),
		onsubmit: async () => {
			// What is left out is removed.
			await api('PUT', '/auth/profile', { name: name.value, bio: bio.value || undefined, phone: phone.value || undefined });
			toast(t('panel.profile.saved'));
			context.refresh();
		},
	}));
}

function address(user) {
	const say = notice();
	const send = button(t('panel.profile.verify'), () => busy(send, () => api('POST', '/auth/verify-email/send').then(() => say.say('good', t('panel.profile.verify.sent')), say.fail)));
	const look = () => (say.clear(), api('GET', '/auth/2fa')).then(({ enabled }) => change.isConnected && !topDialog() && changeAddress(enabled), say.fail);
	const change = button(t('panel.profile.change'), () => busy(change, look));
	return card(t('field.email'), t('panel.profile.email.text'),
		facts([t('panel.audit.address'), [h('span.break', user.email, ' '), user.isEmailVerified ? badge(t('panel.profile.verified'), 'good') : badge(t('panel.profile.not_verified'), 'wait')]]), say,
		h('div.actions', change, !user.isEmailVerified && send));
}

function changeAddress(enabled) {
	const [email, password, code] = [emailField({ label: t('panel.profile.new_email'), name: 'newEmail', autocomplete: 'off' }), passwordField(), codeField()];
	ask({
		title: t('panel.profile.change.title'), text: t('panel.profile.change.text'),
		fields: [email, password, ...(enabled ? [code] : [])], submit: t('panel.profile.change.submit'),
		onsubmit: () => api('POST', '/auth/change-email', { newEmail: email.value, password: password.value, code: enabled ? code.value.trim() : undefined }).then(() => t('panel.profile.change.sent')),
	});
}
