// A forgotten password: asking for a link (the answer is always the same) and using it.

import { emailField, fill, form, guest, h, is, linkButton, loading, newPasswordField, ownerField, sentence, slugField, t } from '../kit.js';
import { currentSlug } from '../store.js';
import { to } from './next.js';

const back = (said) => linkButton(t('back'), to('sign-in', { org: said.org, next: said.next }));

export function forgot(body, said, go) {
	const slug = slugField({ value: said.org ?? currentSlug() ?? '' });
	const email = emailField({ value: said.email ?? '', autocomplete: 'username' });
	fill(body, h('p.lead', t('forgot.lead')), form({
		fields: [slug, email], submit: t('send_link'), extra: back(said),
		onsubmit: async () => {
			await guest('POST', '/auth/forgot-password', slug.value, { email: email.value });
			go(t('look_into_mail'), t('forgot.sent'), back(said));
		},
	}));
	(slug.value ? email : slug).input.focus();
}

export function reset(body, said, go) {
	const again = (kind) => linkButton(t('new_link'), to('forgot', { org: said.org, next: said.next }), kind);
	fill(body, loading(() => linkOf(said), (link) => {
		if (link?.purpose === 'reset') choose(body, said, link, go);
		else go(t('dead.title'), t('dead.text'), again('primary'), back(said));
	}));
}

// What a link of a mail is for; null when it is dead. Looking uses nothing up.
export const linkOf = ({ org, token }) => guest('POST', '/auth/links/preview', org, { token }).then(({ link }) => link, (error) => {
	if (is(error, 'invalid_link', 'unknown_organization', 'invalid_slug', 'invalid_request')) return null;
	throw error;
});

function choose(body, said, { email }, go) {
	const [password, { org, next }] = [newPasswordField(), said];
	fill(body, h('p.lead', sentence('reset.lead', { email: h('strong', email) })), form({
		fields: [ownerField(email), password], submit: t('reset.submit'), extra: linkButton(t('new_link'), to('forgot', { org, next })),
		onsubmit: async () => {
			const data = await guest('POST', '/auth/reset-password', org, { token: said.token, newPassword: password.value, next });
			go(t('reset.done.title'), t('reset.done.text'), linkButton(t('title.sign-in'), to('sign-in', { org, next: data.next }), 'primary'));
		},
	}));
	password.input.focus();
}
