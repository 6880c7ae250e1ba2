// A forgotten password: asking for a link (the answer is always the same) and using it.

import { emailField, fill, form, guest, h, is, linkButton, loading, newPasswordField, slugField } from '../kit.js';
import { currentSlug } from '../store.js';
import { to } from './next.js';

const back = (said) => linkButton('Back to sign in', to('sign-in', { org: said.org, next: said.next }));

export function forgot(body, said, go) {
	const slug = slugField({ value: said.org ?? currentSlug() ?? '' });
	const email = emailField({ value: said.email ?? '', autocomplete: 'username' });
	fill(body, h('p.lead', 'We mail you a link with which you choose a new one.'), form({
		fields: [slug, email], submit: 'Send me a link', extra: back(said),
		onsubmit: async () => {
			const { message } = await guest('POST', '/auth/forgot-password', slug.value, { email: email.value });
			go('Look into your mail', `${message} The link is good for 30 minutes.`, back(said));
		},
	}));
	(slug.value ? email : slug).input.focus();
}

export function reset(body, said, go) {
	const again = (kind) => linkButton('Ask for a new link', to('forgot', { org: said.org, next: said.next }), kind);
	fill(body, loading(() => linkOf(said), (link) => {
		if (link?.purpose === 'reset') choose(body, said, link, go);
		else go('This link is no longer valid', 'It was used, or its time is over.', again('primary'), back(said));
	}));
}

// What a link of a mail is for; null when it is dead. Looking uses nothing up.
export const linkOf = ({ org, token }) => guest('POST', '/auth/links/preview', org, { token }).then(({ link }) => link, (error) => {
	if (is(error, 'invalid_link', 'unknown_organization', 'invalid_slug', 'invalid_request')) return null;
	throw error;
});

function choose(body, said, { email }, go) {
	const [password, { org, next }] = [newPasswordField(), said];
	// Password managers file the password under this address.
	const owner = h('input', { type: 'email', autocomplete: 'username', value: email, hidden: true, readOnly: true });
	fill(body, h('p.lead', 'A new password for ', h('strong', email), '. Every session of yours ends, on every device and in every organization.'), form({
		fields: [owner, password], submit: 'Set the new password', extra: linkButton('Ask for a new link', to('forgot', { org, next })),
		onsubmit: async () => {
			const data = await guest('POST', '/auth/reset-password', org, { token: said.token, newPassword: password.value, next });
			go('Your password was changed', data.message, linkButton('Sign in', to('sign-in', { org, next: data.next }), 'primary'));
		},
	}));
	password.input.focus();
}
