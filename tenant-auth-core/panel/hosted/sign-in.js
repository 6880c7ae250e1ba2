// Signing in. Organizations that were signed in to before on this browser are offered.

import { button, codeField, emailField, fill, form, guest, h, icon, passwordField, slugField, tell } from '../kit.js';
import { currentSlug, forget, knownOrganizations, signedIn, takePlace } from '../store.js';

// `said` may name the organization and the address.
export const signIn = (body, said) => signInForm(body, { ...said, onsignedin: () => location.assign(`./${takePlace()}`) });

export function signInForm(body, { org, email, fixed = false, onsignedin }) {
	const slug = slugField({ value: org ?? currentSlug() ?? '', autocomplete: 'organization', readOnly: fixed, hint: 'The short name in your invitation, such as “acme”.' });
	const address = emailField({ value: email ?? '', autocomplete: 'username' });
	const password = passwordField({ label: 'Password' });
	const done = () => {
		signedIn(slug.value);
		tell('signed-in', slug.value);
		onsignedin();
	};
	const forgot = h('a.aside', { href: 'forgot', onclick: () => (forgot.hash = new URLSearchParams({ org: slug.value, email: address.value })) }, 'Forgot your password?');
	const element = form({
		fields: [slug, address, password], submit: 'Sign in', extra: forgot,
		onsubmit: async () => {
			const data = await guest('POST', '/auth/login', slug.value, { email: address.value, password: password.value });
			password.value = '';
			if (data.requires2FA) secondStep(body, slug.value, done, show);
			else done();
		},
	});
	const choose = (one) => {
		slug.value = one.slug;
		slug.fail('');
		(address.value ? password : address).input.focus();
	};
	const show = () => {
		fill(body, !fixed && known(choose), element);
		([slug, address].find((one) => !one.value) ?? password).input.focus();
	};
	show();
}

function known(choose) {
	const item = (one) => {
		const row = h('li',
			h('button.choice', { onclick: () => choose(one) }, h('span.avatar', { 'aria-hidden': 'true' }, one.name.slice(0, 1)), h('span', h('strong', one.name), h('small', one.slug))),
			h('button.round', { 'aria-label': `Forget ${one.name} on this browser`, onclick: () => drop() }, icon('close')));
		const drop = () => {
			forget(one.slug);
			row.remove();
		};
		return row;
	};
	const list = knownOrganizations();
	return list.length > 0 && h('section.known', h('h2', 'Used on this browser'), h('ul', list.map(item)));
}

// The second step of a login or an invite.
export function secondStep(body, slug, done, again) {
	const code = codeField('The 6 digits your authenticator shows now, or a recovery code.');
	const element = form({
		fields: [code], submit: 'Continue', extra: button('Start again', again),
		onsubmit: async () => {
			code.input.select();
			done(await guest('POST', '/auth/verify-2fa', slug, { code: code.value.trim() }));
		},
	});
	fill(body, h('p.lead', 'Your account is protected by a second factor.'), element);
	code.input.focus();
}
