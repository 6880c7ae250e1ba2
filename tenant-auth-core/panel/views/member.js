// One member, in a dialog: role, access, sessions, metadata, removal. Plain members see the facts and nothing to press. The
// metadata editor judges by the API's rules before anything is sent, and sends what was typed, digit for digit.

import { api } from '../api.js';
import { confirm, open } from '../dialogs.js';
import { h } from '../dom.js';
import { moment, roleName } from '../format.js';
import { metadataProblem, pretty } from '../json.js';
import { badge, busy, button, facts, field, form, notice, toast } from '../ui.js';

/** Opens the dialog; `changed` reloads the list behind it. */
export function openMember(context, member, changed) {
  const path = `/org/members/${member.userId}`;
  const isSelf = member.userId === context.user.id;
  open(member.name, (dialog) => {
    const done = (text) => {
      dialog.close();
      toast(text);
      changed();
    };
    const summary = facts([
      ['Email', member.email],
      !context.isAdmin && ['Role', roleName(member.role)],
      ['Status', badge(member.status === 'active' ? 'Active' : 'Suspended', member.status === 'active' ? 'good' : 'bad')],
      ['Joined', moment(member.joinedAt)],
      ['Id', h('code', {}, member.userId)],
    ]);
    if (!context.isAdmin) return [summary, h('h3', {}, 'Metadata'), h('pre', { tabindex: '0', 'aria-label': 'Metadata' }, pretty(member.metadata))];
    return [
      summary,
      role(member, path, done, isSelf && context.refresh),
      metadata(member, path, done),
      access(context, member, path, isSelf, done),
    ];
  }, { wide: true });
}

function role(member, path, done, own) {
  const select = field({ label: 'Role', name: 'role', type: 'select', value: member.role, options: [['member', 'Member'], ['org_admin', 'Admin']], hint: 'Admins manage members, keys, webhooks and settings.' });
  return h('section', { class: 'part' }, form({
    fields: [select], submit: 'Save role', kind: '',
    onsubmit: async () => {
      await api('PUT', `${path}/role`, { role: select.value });
      done(`${member.name} is ${select.value === 'org_admin' ? 'an admin' : 'a member'} now.`);
      own?.();
    },
  }));
}

function metadata(member, path, done) {
  const text = field({
    label: 'Metadata', name: 'metadata', type: 'textarea', rows: 8, class: 'code', value: pretty(member.metadata),
    hint: 'A JSON object that your application reads. Saving replaces all of it.',
  });
  text.input.addEventListener('input', () => text.fail(metadataProblem(text.value)));
  return h('section', { class: 'part' }, form({
    fields: [text], submit: 'Save metadata', kind: '',
    check: () => {
      const problem = metadataProblem(text.value);
      return problem && ['metadata', problem];
    },
    onsubmit: async () => {
      await api('PATCH', path, undefined, { text: `{"metadata":${text.value}}` });
      done('The metadata was saved.');
    },
  }));
}

function access(context, member, path, isSelf, done) {
  if (isSelf) return h('section', { class: 'part' }, h('p', { class: 'hint' }, 'You cannot suspend or remove yourself. To leave the organization, see its settings.'));
  const say = notice();
  const suspended = member.status !== 'active';
  const suspend = () => confirm({
    title: `Suspend ${member.name}?`, action: 'Suspend',
    text: `${member.name} is refused everywhere in ${context.org.name} from this moment, until somebody reactivates them. Nothing is deleted.`,
    run: async () => {
      await api('PUT', `${path}/status`, { status: 'suspended' });
      done(`${member.name} is suspended.`);
    },
  });
  const reactivate = button('Reactivate', () => busy(reactivate, () => api('PUT', `${path}/status`, { status: 'active' }).then(() => done(`${member.name} is active again.`), say.fail)));
  const end = () => confirm({
    title: `Sign ${member.name} out?`, action: 'End sessions',
    text: `Every session of ${member.name} in ${context.org.name} ends at once. They can sign in again.`,
    run: async () => {
      const { message } = await api('DELETE', `${path}/sessions`);
      done(message);
    },
  });
  const remove = () => confirm({
    title: `Remove ${member.name}?`, action: 'Remove',
    text: `${member.name} loses access to ${context.org.name} at once, and the metadata kept here is deleted. Pending invites they sent as an admin are revoked. The account itself stays.`,
    run: async () => {
      const { message } = await api('DELETE', path);
      done(message);
    },
  });
  return h('section', { class: 'part' }, h('h3', {}, 'Access'), say, h('div', { class: 'actions' },
    button('End sessions', end),
    suspended ? reactivate : button('Suspend', suspend, { kind: 'danger-quiet' }),
    button('Remove', remove, { kind: 'danger-quiet' })));
}
