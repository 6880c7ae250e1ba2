// Invites that wait for an answer: send, send again with a new link, withdraw.

import { addButton, ago, api, ask, badge, busy, button, confirm, emailField, empty, h, heading, listing, roleBadge, roleField, rowButton, t, toast } from '../kit.js';
import { words } from '../words.js';
import { inviteMany } from './bulk.js';

const MAIL = { queued: [t('panel.mail.queued'), 'wait'], sent: [t('panel.mail.sent'), 'good'], failed: [t('panel.failed'), 'bad'] };

export function invites({ org }) {
	const add = () => inviteSomebody(list.reload);
	const resend = (one) => api('POST', `/org/invites/${one.id}/resend`).then(() => {
		toast(t('panel.invites.resent', { email: one.email }));
		return list.reload();
	}, (error) => toast(words(error), true));
	const revoke = (one) => confirm({
		title: t('panel.invites.revoke.title'), action: t('panel.revoke'), run: () => api('DELETE', `/org/invites/${one.id}`).then(() => t('panel.invites.revoked')), done: list.reload, request: () => ['DELETE', `/org/invites/${one.id}`],
		text: t('panel.invites.revoke.text', { email: one.email }),
	});
	const line = (one) => {
		const again = rowButton(t('panel.resend'), one.email, () => busy(again, () => resend(one)));
		return [
			h('strong.break', one.email), roleBadge(one), h('bdi.break', one.invitedBy ?? t('panel.view.operator')), badge(...(MAIL[one.mail] ?? [one.mail])), ago(one.expiresAt),
			h('div.buttons', again, rowButton(t('panel.revoke'), one.email, () => revoke(one), 'danger-quiet')),
		];
	};
	const list = listing({
		path: '/org/invites', key: 'invites', noun: 'invites', columns: [t('panel.column.invited'), t('panel.role'), t('panel.column.by'), t('panel.column.mail'), t('panel.column.expires'), ''], line, search: 'search',
		nothing: () => empty('invites', t('panel.invites.none.title'), t('panel.invites.none.text'), button(t('panel.invites.somebody'), add)),
	});
	return [heading(t('panel.view.invites'), t('panel.invites.lead', { organization: org.name }), addButton(t('panel.invite'), add), button(t('panel.invite_many'), () => inviteMany(list.reload))), list];
}

export function inviteSomebody(done) {
	const [email, role] = [emailField({ autocomplete: 'off' }), roleField()];
	ask({
		title: t('panel.invites.somebody'), text: t('panel.invites.text'), fields: [email, role], submit: t('panel.invites.send'), done,
		request: () => ['POST', '/org/members/invite', { email: email.value, role: role.value }],
		onsubmit: () => api('POST', '/org/members/invite', { email: email.value, role: role.value }).then(({ invite }) => t('panel.invites.sent', { email: invite.email })),
	});
}
