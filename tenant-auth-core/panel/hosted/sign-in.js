// Signing in. Organizations that were signed in to before on this browser are offered.

import { button, codeField, emailField, fill, form, guest, h, icon, initial, linkButton, passwordField, slugField, tell } from '../kit.js';
import { currentSlug, forget, home, keepPlace, knownOrganizations, signedIn, signedInAs } from '../store.js';
import { leave, present, stay, to } from './next.js';

// The server marks its pages where sign-up is open.
const offersSignUp = 'signUp' in document.documentElement.dataset;

// Why somebody is here who did not ask for it.
const WHY = {
	ended: 'Your session is over. Sign in again to go on.', 'signed-out': 'You signed out in another tab.', left: 'You left the organization.',
};

// `said` may name the organization, the address, where to go then, and why.
export function signIn(body, said) {
	const why = Object.hasOwn(WHY, said.why ?? '') && h('p.notice.wait', { role: 'status' }, WHY[said.why]);
	const ask = () => {
		const box = h('div');
		fill(body, why, !said.next && goOn(), box);
		signInForm(box, { ...said, onsignedin: (data) => leave(data.next) });
	};
	if (said.place?.startsWith('#/')) keepPlace(said.place);
	if (!said.next) return ask();
	present(said).then((found) => (found ? stay(body, found, ask) : ask()));
}

// Somebody who is signed in came here to see, or by mistake.
function goOn() {
	const person = signedInAs();
	return person && h('p.notice', `${person.name} is signed in to “${person.slug}”. `, linkButton('Go on', home(), 'small'));
}

export function signInForm(body, { org, email, next, fixed = false, onsignedin }) {
	const slug = slugField({ value: org ?? currentSlug() ?? '', autocomplete: 'organization', readOnly: fixed, hint: 'The short name in your invitation, such as “acme”.' });
	const address = emailField({ value: email ?? '', autocomplete: 'username', readOnly: fixed && Boolean(email) });
	const password = passwordField({ label: 'Password' });
	const done = (data) => {
		signedIn(slug.value);
		tell('signed-in', slug.value, data.user.id);
		return onsignedin(data);
	};
	const forgot = h('a.aside', { href: 'forgot', onclick: () => (forgot.href = to('forgot', { org: slug.value, email: address.value, next })) }, 'Forgot your password?');
	const element = form({
		fields: [slug, address, password], submit: 'Sign in', extra: forgot,
		onsubmit: async () => {
			const data = await guest('POST', '/auth/login', slug.value, { email: address.value, password: password.value, next });
			password.value = '';
			if (data.requires2FA) secondStep(body, { slug: slug.value, next, done, again: show });
			else await done(data);
		},
	});
	const choose = (one) => {
		slug.value = one.slug;
		slug.fail('');
		(address.value ? password : address).input.focus();
	};
	const show = () => {
		fill(body, !fixed && known(choose), element, offersSignUp && !fixed && h('div.actions', linkButton('Create an organization', 'sign-up')));
		([slug, address].find((one) => !one.value) ?? password).input.focus();
	};
	show();
}

function known(choose) {
	const item = (one) => {
		const row = h('li',
			h('button.choice', { onclick: () => choose(one) }, h('span.avatar', { 'aria-hidden': 'true' }, initial(one.name)), h('span', h('strong', one.name), h('small', one.slug))),
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
export function secondStep(body, { slug, next, done, again }) {
	const code = codeField('The 6 digits your authenticator shows now, or a recovery code.');
	const element = form({
		fields: [code], submit: 'Continue', extra: button('Start again', again),
		onsubmit: async () => {
			code.input.select();
			await done(await guest('POST', '/auth/verify-2fa', slug, { code: code.value.trim(), next }));
		},
	});
	fill(body, h('p.lead', 'Your account is protected by a second factor.'), element);
	code.input.focus();
}
