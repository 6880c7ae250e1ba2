// A forgotten password: asking for a link (the answer is always the same) and using it.

import { emailField, fill, form, guest, h, linkButton, newPasswordField, slugField } from '../kit.js';
import { currentSlug } from '../store.js';

const back = () => linkButton('Back to sign in', 'sign-in');

export function forgot(body, said, go) {
	const slug = slugField({ value: said.org ?? currentSlug() ?? '' });
	const email = emailField({ value: said.email ?? '', autocomplete: 'username' });
	fill(body, h('p.lead', 'We mail you a link with which you choose a new one.'), form({
		fields: [slug, email], submit: 'Send me a link', extra: back(),
		onsubmit: async () => {
			const { message } = await guest('POST', '/auth/forgot-password', slug.value, { email: email.value });
			go('Look into your mail', `${message} The link is good for 30 minutes.`, back());
		},
	}));
	(slug.value ? email : slug).input.focus();
}

export function reset(body, said, go) {
	const [password, org] = [newPasswordField(), new URLSearchParams({ org: said.org })];
	fill(body, h('p.lead', 'Every session of yours ends, on every device and in every organization.'), form({
		fields: [password], submit: 'Set the new password', extra: linkButton('Ask for a new link', `forgot#${org}`),
		onsubmit: async () => {
			const { message } = await guest('POST', '/auth/reset-password', said.org, { token: said.token, newPassword: password.value });
			go('Your password was changed', message, linkButton('Sign in', `sign-in#${org}`, 'primary'));
		},
	}));
	password.input.focus();
}
