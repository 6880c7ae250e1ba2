// Making an organization of one's own: asking for a link (the answer is always the same) and using it. Looking at the link uses nothing
// up; what is then asked for depends on whether the address has an account.

import { codeField, emailField, fill, form, guest, h, is, linkButton, loading, nameField, newPasswordField, passwordField, slugField, tell } from '../kit.js';
import { signedIn } from '../store.js';

const signIn = () => linkButton('Sign in', 'sign-in');

export function signUp(body, said, go) {
	if (said.token) return open(body, said.token, go);
	const email = emailField({ value: said.email ?? '', autocomplete: 'email' });
	fill(body, h('p.lead', 'We mail you a link with which you make your organization.'), form({
		fields: [email], submit: 'Send me a link', extra: signIn(),
		onsubmit: async () => {
			const { message } = await guest('POST', '/auth/sign-up', '', { email: email.value });
			go('Look into your mail', `${message} The link is good for a day.`, signIn());
		},
	}));
	email.input.focus();
}

function open(body, token, go) {
	const look = () => guest('POST', '/auth/sign-up/preview', '', { token }).catch((error) => {
		if (is(error, 'invalid_link', 'invalid_request')) return null;
		throw error;
	});
	fill(body, loading(look, (found) => {
		if (found) offer(body, token, found, go);
		else go('This link is no longer valid', 'It was used, or its time is over.', linkButton('Ask for a new one', 'sign-up', 'primary'), signIn());
	}));
}

function offer(body, token, { email, accountExists }, go) {
	const organization = nameField({ label: 'Name of the organization', name: 'organization', autocomplete: 'organization' });
	const slug = slugField({ label: 'Short name', name: 'slug', autocomplete: 'off', hint: 'You sign in with it; it stays. Lower-case letters, digits and hyphens.' });
	// Password managers file the password under this address.
	const owner = h('input', { type: 'email', autocomplete: 'username', value: email, hidden: true, readOnly: true });
	const name = nameField({ label: 'Your name', autocomplete: 'name' });
	const password = accountExists ? passwordField() : newPasswordField({ label: 'Choose a password', name: 'password' });
	const code = codeField();
	const show = (...own) => {
		const element = form({
			fields: [organization, slug, owner, ...own], submit: 'Create the organization',
			onsubmit: async () => {
				const sent = { token, organization: { name: organization.value, slug: slug.value } };
				for (const one of own) sent[one.input.name] = one.input.name === 'code' ? one.value.trim() : one.value;
				try {
					await guest('POST', '/auth/sign-up/complete', '', sent);
				} catch (error) {
					if (is(error, 'account_exists') && !accountExists) return offer(body, token, { email, accountExists: true }, go); // made meanwhile
					if (!is(error, 'invalid_request') || !error.message.startsWith('code:') || own.includes(code)) throw error;
					show(password, code); // the password was right
					return code.input.focus();
				}
				signedIn(slug.value, organization.value);
				tell('signed-in', slug.value);
				go(`${organization.value} is yours`, 'You are its administrator, and signed in.', linkButton('Go to your organization', './', 'primary'));
			},
		});
		fill(body, lead, element);
	};
	const lead = h('p.lead', { role: 'status' }, accountExists
		? ['You have an account already, with the address ', h('strong', email), '. Your organization is made with it, so type its password.']
		: ['You will sign in with the address ', h('strong', email), '.']);
	if (accountExists) show(password);
	else show(name, password);
	organization.input.focus();
}
