// A person's own name, texts and address. A new address counts once its mailed link was used.

import { api, ask, badge, busy, button, card, codeField, emailField, facts, field, form, h, heading, loading, nameField, notice, passwordField, toast } from '../kit.js';

export function profile(context) {
	return [heading('Profile', 'This is you in every organization you belong to.'), loading(() => api('GET', '/auth/profile'), ({ user }) => [about(context, user), address(user)])];
}

function about(context, user) {
	const name = nameField({ value: user.name, autocomplete: 'name' });
	const bio = field({ label: 'Bio', name: 'bio', type: 'textarea', rows: 3, value: user.profile.bio ?? '', optional: true, maxlength: 1000, spellcheck: 'true' });
	const phone = field({ label: 'Phone', name: 'phone', type: 'tel', value: user.profile.phone ?? '', optional: true, maxlength: 32, autocomplete: 'tel' });
	return card('About you', null, form({
		fields: [name, bio, phone], submit: 'Save profile',
		onsubmit: async () => {
			// What is left out is removed.
			await api('PUT', '/auth/profile', { name: name.value, bio: bio.value || undefined, phone: phone.value || undefined });
			toast('Your profile was saved.');
			context.refresh();
		},
	}));
}

function address(user) {
	const say = notice();
	const send = button('Send verification mail', () => busy(send, () => api('POST', '/auth/verify-email/send').then(({ message }) => say.say('good', message), say.fail)));
	const change = button('Change address', () => busy(change, changeAddress));
	return card('Email address', 'You sign in with it, and notices about your account go there.',
		facts(['Address', [h('span.break', user.email, ' '), user.isEmailVerified ? badge('Verified', 'good') : badge('Not verified', 'wait')]]), say,
		h('div.actions', change, !user.isEmailVerified && send));
}

async function changeAddress() {
	const { enabled } = await api('GET', '/auth/2fa').catch(() => ({ enabled: false }));
	const [email, password, code] = [emailField({ label: 'New email address', name: 'newEmail', autocomplete: 'off' }), passwordField(), codeField()];
	ask({
		title: 'Change your email address', text: 'The new address gets a link that is good for 24 hours. Nothing changes until you use it.',
		fields: [email, password, ...(enabled ? [code] : [])], submit: 'Send link',
		onsubmit: () => api('POST', '/auth/change-email', { newEmail: email.value, password: password.value, code: enabled ? code.value.trim() : undefined }),
	});
}
