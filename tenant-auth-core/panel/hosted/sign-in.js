// Signing in. Organizations that were signed in to before on this browser are offered.

import { button, codeField, emailField, fill, form, guest, h, hasText, icon, initial, linkButton, loading, passwordField, sentence, slugField, t, tell, told } from '../kit.js';
import { currentSlug, forget, home, keepPlace, knownOrganizations, signedIn, signedInAs } from '../store.js';
import { leave, present, stay, to } from './next.js';

// The server marks its pages where sign-up is open.
export const offersSignUp = 'signUp' in document.documentElement.dataset;

// `said` may name the organization, the address, where to go then, and why somebody is here who did not ask for it.
export function signIn(body, said) {
	const why = hasText(`sign_in.why.${said.why}`) && told('.notice.wait', t(`sign_in.why.${said.why}`));
	const ask = () => {
		const box = h('div');
		fill(body, why, !said.next && goOn(), box);
		signInForm(box, { ...said, onsignedin: (data) => leave(data.next) });
	};
	if (said.place?.startsWith('#/')) keepPlace(said.place);
	if (!said.next) return ask();
	return fill(body, loading(() => present(said), (found) => (found ? stay(body, found, ask) : ask())));
}

// Somebody who is signed in came here to see, or by mistake.
function goOn() {
	const person = signedInAs();
	return person && h('p.notice', sentence('sign_in.present', { name: person.name, organization: person.slug }), ' ', linkButton(t('sign_in.go_on'), home(), 'small'));
}

/** @param {any} body @param {SignInOptions} options */
export function signInForm(body, { org, email, next, second, fixed = false, onsignedin }) {
	const slug = slugField({ value: second || (org ?? currentSlug() ?? ''), autocomplete: 'organization', readOnly: fixed, hint: t('field.slug_hint') });
	const address = emailField({ value: email ?? '', autocomplete: 'username', readOnly: fixed && Boolean(email) });
	const password = passwordField({ label: t('field.password') });
	// Loading the page again goes on at the second step: a cookie knows who has done the first one.
	const isHalfway = (second) => fixed || history.replaceState({ said: { ...history.state?.said, second } }, '');
	const goHalfway = () => {
		isHalfway(slug.value);
		secondStep(body, { slug: slug.value, next, done, again: show });
	};
	const done = (data) => {
		isHalfway('');
		signedIn(slug.value, undefined, data.user);
		tell('signed-in', slug.value, data.user.id);
		return onsignedin(data);
	};
	const forgot = h('a.aside', { href: 'forgot', onclick: () => (forgot.href = to('forgot', { org: slug.value, email: address.value, next })) }, t('sign_in.forgot'));
	const element = form({
		fields: [slug, address, password], submit: t('title.sign-in'), extra: forgot,
		onsubmit: async () => {
			const data = await guest('POST', '/auth/login', slug.value, { email: address.value, password: password.value, next });
			password.value = '';
			if (data.requires2FA) goHalfway();
			else await done(data);
		},
	});
	const choose = (one) => {
		slug.value = one.slug;
		slug.fail('');
		(address.value ? password : address).input.focus();
	};
	const show = () => {
		isHalfway('');
		fill(body, !fixed && known(choose), element, offersSignUp && !fixed && h('div.actions', linkButton(t('title.sign-up'), 'sign-up')));
		([slug, address].find((one) => !one.value) ?? password).input.focus();
	};
	if (second) goHalfway();
	else show();
}

function known(choose) {
	const item = (one) => {
		const row = h('li',
			h('button.choice', { onclick: () => choose(one) }, h('span.avatar', { 'aria-hidden': 'true' }, initial(one.name)), h('span', h('strong', h('bdi', one.name)), h('small', one.slug))),
			h('button.round', { 'aria-label': t('sign_in.forget', { organization: one.name }), onclick: () => drop() }, icon('close')));
		const drop = () => {
			forget(one.slug);
			row.remove();
		};
		return row;
	};
	const list = knownOrganizations();
	return list.length > 0 && h('section.known', h('h2', t('sign_in.known')), h('ul', list.map(item)));
}

// The second step of a login or an invite.
export function secondStep(body, { slug, next, done, again }) {
	const code = codeField(t('second.hint'));
	const element = form({
		fields: [code], submit: t('second.submit'), extra: button(t('second.again'), again),
		onsubmit: async () => {
			code.input.select();
			await done(await guest('POST', '/auth/verify-2fa', slug, { code: code.value.trim(), next }));
		},
	});
	fill(body, h('p.lead', t('second.lead')), element);
	code.input.focus();
}
