// Invites that wait for an answer: send, send again with a new link, withdraw.

import { all, api } from '../api.js';
import { ask, confirm } from '../dialogs.js';
import { h } from '../dom.js';
import { ago, roleName } from '../format.js';
import { badge, busy, button, empty, field, heading, loading, table, toast } from '../ui.js';

const MAIL = { queued: ['On its way', 'wait'], sent: ['Sent', 'good'], failed: ['Failed', 'bad'] };

/** The view. */
export function invites(context) {
  const box = loading(() => all('/org/invites', 'invites'), (list) => {
    if (!list.length) return empty('invites', 'No pending invites', 'Whoever accepts an invite appears among the members.', button('Invite somebody', add));
    return table('Pending invites', ['Invited', 'Role', 'By', 'Mail', 'Expires', ''], list.map(line));
  });
  const add = () => inviteSomebody(box.reload);
  const line = (one) => {
    const again = button('Resend', () => busy(again, () => api('POST', `/org/invites/${one.id}/resend`).then(() => {
      toast(`${one.email} gets a new link; the old one is dead.`);
      return box.reload();
    }, (error) => toast(error.message))), { kind: 'small', 'aria-label': `Resend to ${one.email}` });
    const revoke = button('Revoke', () => confirm({
      title: 'Revoke this invite?', action: 'Revoke',
      text: `The link mailed to ${one.email} stops working at once.`,
      run: async () => {
        const { message } = await api('DELETE', `/org/invites/${one.id}`);
        toast(message);
        box.reload();
      },
    }), { kind: 'small danger-quiet', 'aria-label': `Revoke the invite of ${one.email}` });
    return [h('strong', { class: 'break' }, one.email), badge(roleName(one.role), one.role === 'org_admin' ? 'tint' : ''),
      h('span', { class: 'break' }, one.invitedBy ?? 'Command line'), badge(...(MAIL[one.mail] ?? [one.mail])), ago(one.expiresAt), h('div', { class: 'buttons' }, again, revoke)];
  };
  return [heading('Invites', `People who were asked to join ${context.org.name} and have not answered yet.`, button('Invite', add, { kind: 'primary', mark: 'plus' })), box];
}

/** Asks whom to invite. */
export function inviteSomebody(done) {
  const email = field({ label: 'Email address', name: 'email', type: 'email', autocomplete: 'off' });
  const role = field({ label: 'Role', name: 'role', type: 'select', options: [['member', 'Member'], ['org_admin', 'Admin']], hint: 'Admins manage members, keys, webhooks and settings.' });
  ask({
    title: 'Invite somebody',
    text: 'They get a mail with a link that is good for 7 days.',
    fields: [email, role],
    submit: 'Send invite',
    at: { already_member: 'email', already_invited: 'email' },
    onsubmit: async (dialog) => {
      const { invite } = await api('POST', '/org/members/invite', { email: email.value, role: role.value });
      dialog.close();
      toast(`${invite.email} is invited.`);
      done?.();
    },
  });
}
