// Links that prove an address or change it. A change needs a session (sign-in happens in place); a proof a session or the password.

import { api, fill, form, guest, h, is, linkButton, loading, passwordField } from '../kit.js';
import { linkOf } from './password.js';
import { signInForm } from './sign-in.js';

const home = () => linkButton('Go to your account', './#/profile', 'primary');

export function verify(body, said, go) {
	const submit = 'Verify this address';
	const prove = async (rest) => go('Thank you', (await guest('POST', '/auth/verify-email', said.org, { token: said.token, ...rest })).message, home());
	const askPassword = () => {
		const password = passwordField();
		fill(body, h('p.lead', { role: 'status' }, 'Type the password of your account as well. You need none where you are signed in.'), form({
			fields: [password], submit, extra: linkButton('Forgot your password?', `forgot#${new URLSearchParams({ org: said.org })}`),
			onsubmit: () => prove({ password: password.value }),
		}));
		password.input.focus();
	};
	const proveInSession = async () => {
		try {
			await api('GET', '/auth/profile', undefined, { slug: said.org }); // refreshes the session where it is time
			await prove();
		} catch (error) {
			if (!is(error, 'session_required', 'wrong_organization', 'suspended', 'wrong_password')) throw error;
			askPassword();
		}
	};
	fill(body, loading(() => linkOf(said), (link) => {
		if (link?.purpose === 'verify') fill(body, h('p.lead', 'This says that the mail to ', h('strong', link.email), ' reached you.'), form({ fields: [], submit, onsubmit: proveInSession }));
		else go('This link is no longer valid', 'It was used, or its time is over. Your profile offers a new one.', home());
	}));
}

export function changeEmail(body, said, go) {
	const confirm = async () => {
		try {
			go('Your address was changed', (await api('POST', '/auth/change-email/confirm', { token: said.token }, { slug: said.org })).message, home());
		} catch (error) {
			if (!is(error, 'session_required', 'wrong_organization')) throw error;
			const box = h('div');
			fill(body, h('p.lead', { role: 'status' }, `Sign in to “${said.org}” first, with the account whose address is to change.`), box);
			signInForm(box, { org: said.org, fixed: true, onsignedin: ask });
		}
	};
	const ask = () => fill(body, h('p.lead', 'Your account gets the address this mail was sent to. Every other session of yours ends.'), form({ fields: [], submit: 'Use this address', onsubmit: confirm }));
	ask();
}
