// Links that prove an address or change it. A change needs a session (sign-in happens in place); a proof a session or the password.

import { api, button, fill, form, guest, h, is, linkButton, loading, ownerField, passwordField, sentence, t, told } from '../kit.js';
import { home, signedInAs } from '../store.js';
import { linkOf } from './password.js';
import { signInForm } from './sign-in.js';

const profile = () => linkButton(t('home'), home('#/profile'), 'primary');

export function verify(body, said, go) {
	const submit = t('verify.submit');
	const prove = async (rest) => {
		await guest('POST', '/auth/verify-email', said.org, { token: said.token, ...rest });
		go(t('verify.done.title'), t('verify.done.text'), profile());
	};
	const askPassword = (email) => {
		const password = passwordField();
		fill(body, told('.lead', t('verify.password')), form({
			fields: [ownerField(email), password], submit, extra: linkButton(t('sign_in.forgot'), `forgot#${new URLSearchParams({ org: said.org })}`),
			onsubmit: () => prove({ password: password.value }),
		}));
		password.input.focus();
	};
	const proveInSession = async (email) => {
		try {
			await api('GET', '/auth/profile', undefined, { slug: said.org }); // refreshes the session where it is time
			await prove();
		} catch (error) {
			if (!is(error, 'session_required', 'wrong_organization', 'suspended', 'wrong_password')) throw error;
			askPassword(email);
		}
	};
	fill(body, loading(() => linkOf(said), (link) => {
		if (link?.purpose === 'verify') fill(body, h('p.lead', sentence('verify.lead', { email: h('strong', link.email) })), form({ fields: [], submit, onsubmit: () => proveInSession(link.email) }));
		else go(t('dead.title'), t('verify.dead'), profile());
	}));
}

// The account that a link is about to change.
function present(slug) {
	const person = signedInAs();
	return person?.slug === slug && h('p.notice', sentence('sign_in.present_as', { organization: slug, name: person.name, email: h('strong', person.email) }));
}

export function changeEmail(body, said, go) {
	const confirm = async () => {
		try {
			await api('POST', '/auth/change-email/confirm', { token: said.token }, { slug: said.org });
			go(t('change_email.done.title'), t('change_email.done.text'), profile());
		} catch (error) {
			if (is(error, 'session_required', 'wrong_organization')) return signIn();
			// The link of one account is no link to another: whoever is signed in as somebody else may go on as that one.
			other.hidden = !is(error, 'invalid_link');
			throw error;
		}
	};
	const signIn = () => {
		const box = h('div');
		fill(body, told('.lead', t('change_email.sign_in', { organization: said.org })), box);
		signInForm(box, { org: said.org, fixed: true, onsignedin: ask });
	};
	const other = button(t('sign_in.other'), signIn);
	const ask = () => {
		other.hidden = true;
		fill(body, h('p.lead', t('change_email.lead')), present(said.org), form({ fields: [], submit: t('change_email.submit'), extra: [other], onsubmit: confirm }));
	};
	ask();
}
