// Making an organization of one's own: asking for a link (the answer is always the same) and using it. Looking at the link uses nothing
// up; what is then asked for depends on whether an account has proved the address.

import { codeField, emailField, fill, form, guest, h, is, linkButton, loading, nameField, newPasswordField, ownerField, passwordField, sentence, slugField, t, tell, told } from '../kit.js';
import { home, signedIn } from '../store.js';
import { offersSignUp } from './sign-in.js';

const signIn = () => linkButton(t('title.sign-in'), 'sign-in');

export function signUp(body, said, go) {
	if (said.token) return open(body, said.token, go);
	if (!offersSignUp) return go(t('title.sign-up'), t('error.sign_up_closed'), signIn());
	const email = emailField({ value: said.email ?? '', autocomplete: 'email' });
	fill(body, h('p.lead', t('sign_up.lead')), form({
		fields: [email], submit: t('send_link'), extra: signIn(),
		onsubmit: async () => {
			await guest('POST', '/auth/sign-up', '', { email: email.value });
			go(t('look_into_mail'), t('sign_up.sent'), signIn());
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
		else go(t('dead.title'), t('dead.text'), linkButton(t('sign_up.again'), 'sign-up', 'primary'), signIn());
	}));
}

function offer(body, token, { email, accountExists }, go) {
	const organization = nameField({ label: t('sign_up.organization'), name: 'organization', autocomplete: 'organization' });
	const slug = slugField({ label: t('sign_up.slug'), name: 'slug', autocomplete: 'off', hint: t('sign_up.slug_hint') });
	const name = nameField({ label: t('field.your_name'), autocomplete: 'name' });
	const password = accountExists ? passwordField() : newPasswordField({ label: t('field.choose_password'), name: 'password' });
	const code = codeField();
	const show = (...own) => {
		const element = form({
			fields: [organization, slug, ownerField(email), ...own], submit: t('sign_up.submit'),
			onsubmit: async () => {
				const sent = { token, organization: { name: organization.value, slug: slug.value } };
				for (const one of own) sent[one.input.name] = one.input.name === 'code' ? one.value.trim() : one.value;
				let data;
				try {
					data = await guest('POST', '/auth/sign-up/complete', '', sent);
				} catch (error) {
					if (is(error, 'account_exists') && !accountExists) return offer(body, token, { email, accountExists: true }, go); // made meanwhile
					if (!is(error, 'invalid_request') || !error.message.startsWith('code:') || own.includes(code)) throw error;
					show(password, code); // the password was right
					return code.input.focus();
				}
				signedIn(slug.value, organization.value, data.user);
				tell('signed-in', slug.value, data.user.id);
				go(t('sign_up.done.title', { organization: organization.value }), t('sign_up.done.text'), linkButton(t('sign_up.open'), home(), 'primary'));
			},
		});
		fill(body, told('.lead', sentence(accountExists ? 'sign_up.known' : 'sign_up.new', { email: h('strong', email) })), element);
	};
	if (accountExists) show(password);
	else show(name, password);
	organization.input.focus();
}
