// Invites that wait for an answer: send, send again with a new link, withdraw.

import { addButton, ago, api, ask, badge, busy, button, confirm, emailField, empty, h, heading, listing, roleBadge, roleField, rowButton, toast } from '../kit.js';
import { words } from '../words.js';
import { inviteMany } from './bulk.js';

const MAIL = { queued: ['On its way', 'wait'], sent: ['Sent', 'good'], failed: ['Failed', 'bad'] };

export function invites({ org }) {
	const add = () => inviteSomebody(list.reload);
	const resend = (one) => api('POST', `/org/invites/${one.id}/resend`).then(() => {
		toast(`${one.email} gets a new link; the old one is dead.`);
		return list.reload();
	}, (error) => toast(words(error)));
	const revoke = (one) => confirm({
		title: 'Revoke this invite?', action: 'Revoke', run: () => api('DELETE', `/org/invites/${one.id}`), done: list.reload, request: () => ['DELETE', `/org/invites/${one.id}`],
		text: `The link mailed to ${one.email} stops working at once.`,
	});
	const line = (one) => {
		const again = rowButton('Resend', one.email, () => busy(again, () => resend(one)));
		return [
			h('strong.break', one.email), roleBadge(one), h('span.break', one.invitedBy ?? 'Operator'), badge(...(MAIL[one.mail] ?? [one.mail])), ago(one.expiresAt),
			h('div.buttons', again, rowButton('Revoke', one.email, () => revoke(one), 'danger-quiet')),
		];
	};
	const list = listing({
		path: '/org/invites', key: 'invites', noun: 'pending invites', columns: ['Invited', 'Role', 'By', 'Mail', 'Expires', ''], line, search: true,
		nothing: () => empty('invites', 'No pending invites', 'Whoever accepts an invite appears among the members.', button('Invite somebody', add)),
	});
	return [heading('Invites', `People who were asked to join ${org.name} and have not answered yet.`, addButton('Invite', add), button('Invite many', () => inviteMany(list.reload))), list];
}

export function inviteSomebody(done) {
	const [email, role] = [emailField({ autocomplete: 'off' }), roleField()];
	ask({
		title: 'Invite somebody', text: 'They get a mail with a link that is good for some days.', fields: [email, role], submit: 'Send invite', done,
		request: () => ['POST', '/org/members/invite', { email: email.value, role: role.value }],
		onsubmit: () => api('POST', '/org/members/invite', { email: email.value, role: role.value }).then(({ invite }) => `${invite.email} is invited.`),
	});
}
