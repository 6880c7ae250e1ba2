// Links that prove an address or change it. A change needs a session (sign-in happens in place); a proof a session or the password.

import { api, fill, form, guest, h, is, linkButton, loading, passwordField, sentence, t, told } from '../kit.js';
import { linkOf } from './password.js';
import { signInForm } from './sign-in.js';

const home = () => linkButton(t('home'), './#/profile', 'primary');

export function verify(body, said, go) {
	const submit = t('verify.submit');
	const prove = async (rest) => {
		await guest('POST', '/auth/verify-email', said.org, { token: said.token, ...rest });
		go(t('verify.done.title'), t('verify.done.text'), home());
	};
	const askPassword = () => {
		const password = passwordField();
		fill(body, told('.lead', t('verify.password')), form({
			fields: [password], submit, extra: linkButton(t('sign_in.forgot'), `forgot#${new URLSearchParams({ org: said.org })}`),
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
		if (link?.purpose === 'verify') fill(body, h('p.lead', sentence('verify.lead', { email: h('strong', link.email) })), form({ fields: [], submit, onsubmit: proveInSession }));
		else go(t('dead.title'), t('verify.dead'), home());
	}));
}

export function changeEmail(body, said, go) {
	const confirm = async () => {
		try {
			await api('POST', '/auth/change-email/confirm', { token: said.token }, { slug: said.org });
			go(t('change_email.done.title'), t('change_email.done.text'), home());
		} catch (error) {
			if (!is(error, 'session_required', 'wrong_organization')) throw error;
			const box = h('div');
			fill(body, told('.lead', t('change_email.sign_in', { organization: said.org })), box);
			signInForm(box, { org: said.org, fixed: true, onsignedin: ask });
		}
	};
	const ask = () => fill(body, h('p.lead', t('change_email.lead')), form({ fields: [], submit: t('change_email.submit'), onsubmit: confirm }));
	ask();
}
