// Accepting an invite. Looking at it uses nothing up; what is then asked for depends on whether the address has an account.

import { fill, form, guest, h, is, linkButton, loading, moment, nameField, newPasswordField, put, roleName, tell } from '../kit.js';
import { signedIn, signedInAs } from '../store.js';
import { leaving, to } from './next.js';
import { secondStep } from './sign-in.js';

const DEAD = ['invalid_invite', 'unknown_organization', 'invalid_slug', 'invalid_request'];

export function invite(body, said, go) {
	const look = () => guest('POST', '/org/invites/preview', said.org, { token: said.token }).catch((error) => {
		if (is(error, ...DEAD)) return null;
		throw error;
	});
	fill(body, loading(look, (found) => {
		if (found) offer(body, said, found, go);
		else go('This invitation is no longer valid', 'It was used or revoked, or its time is over. Ask an administrator for a new one.', linkButton('Sign in', to('sign-in', { org: said.org, next: said.next })));
	}));
}

function offer(body, said, { invite: invited, org }, go) {
	const { token, next } = said;
	const name = nameField({ label: 'Your name', autocomplete: 'name' });
	const password = newPasswordField({ label: 'Choose a password', name: 'password' });
	// Password managers file the password under this address.
	const owner = h('input', { type: 'email', autocomplete: 'username', value: invited.email, hidden: true, readOnly: true });
	const done = (data) => {
		signedIn(org.slug, org.name);
		tell('signed-in', org.slug, data.user?.id);
		const app = data.org?.appUrl;
		const onward = data.next ? leaving(data.next) : app && linkButton(`Open ${org.name}`, app, 'primary');
		go(`Welcome to ${org.name}`, 'You are a member now, and signed in.', onward, linkButton('Go to your account', './', onward ? '' : 'primary'));
	};
	const accept = async (registration) => {
		try {
			const data = await guest('POST', `/org/invites/${encodeURIComponent(token)}/accept`, org.slug, { ...registration, next });
			if (data.requires2FA) secondStep(body, { slug: org.slug, next, done, again: () => offer(body, said, { invite: invited, org }, go) });
			else done(data);
		} catch (error) {
			if (!is(error, 'account_exists')) throw error;
			offer(body, said, { invite: { ...invited, accountExists: true }, org }, go); // made meanwhile
		}
	};
	const element = invited.accountExists
		? form({ fields: [], submit: `Join ${org.name}`, onsubmit: () => accept() })
		: form({ fields: [name, owner, password], submit: 'Create account and join', onsubmit: () => accept({ name: name.value, password: password.value }) });
	go(`Join ${org.name}`, [
		'You are invited as ', h('strong', roleName(invited.role).toLowerCase()), ' with the address ', h('strong', invited.email), ', until ', moment(invited.expiresAt), '.',
		invited.accountExists && ' You have an account already, and join with it. If its address was never verified before, we mail you a link to choose a new password.',
	]);
	const other = signedInAs();
	const isOther = other && other.email && other.email.toLowerCase() !== invited.email.toLowerCase();
	put(body, isOther && h('p.notice.wait', h('bdi', other.name), ' is signed in at this browser, and is signed out by joining: this invite is for ', h('strong', invited.email), '.'), element);
}
