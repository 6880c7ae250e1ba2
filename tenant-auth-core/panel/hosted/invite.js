// Accepting an invite. Looking at it uses nothing up; what is then asked for depends on whether the address has an account.

import { fill, form, guest, h, is, linkButton, loading, moment, nameField, newPasswordField, ownerField, put, sentence, t, tell } from '../kit.js';
import { home, signedIn, signedInAs } from '../store.js';
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
		else go(t('invite.dead.title'), t('invite.dead.text'), linkButton(t('title.sign-in'), to('sign-in', { org: said.org, next: said.next })));
	}));
}

function offer(body, said, { invite: invited, org }, go) {
	const { token, next } = said;
	const name = nameField({ label: t('field.your_name'), autocomplete: 'name' });
	const password = newPasswordField({ label: t('field.choose_password'), name: 'password' });
	const done = (data) => {
		signedIn(org.slug, org.name, data.user);
		tell('signed-in', org.slug, data.user.id);
		const app = data.org?.appUrl;
		const onward = data.next ? leaving(data.next) : app && linkButton(t('invite.open', { organization: org.name }), app, 'primary');
		go(t('invite.done.title', { organization: org.name }), t('invite.done.text'), onward, linkButton(t('home'), home(), onward ? '' : 'primary'));
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
		? form({ fields: [], submit: t('invite.title', { organization: org.name }), onsubmit: () => accept() })
		: form({ fields: [name, ownerField(invited.email), password], submit: t('invite.create'), onsubmit: () => accept({ name: name.value, password: password.value }) });
	const role = h('strong', t(`invite.as.${invited.role}`));
	go(t('invite.title', { organization: org.name }), [
		sentence('invite.lead', { role, email: h('strong', invited.email), until: moment(invited.expiresAt) }),
		invited.accountExists && ` ${t('invite.has_account')}`,
	]);
	const other = signedInAs();
	const isOther = other && other.email && other.email.toLowerCase() !== invited.email.toLowerCase();
	put(body, isOther && h('p.notice.wait', sentence('invite.other_person', { name: other.name, email: h('strong', invited.email) })), element);
}
