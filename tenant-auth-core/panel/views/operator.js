// All organizations of the deployment, for its operator: create one with an invite to its first admin, change its plan, suspend
// and reactivate it, invite another admin where none is left. The API asks for the operator's own organization, a second factor
// and a recent login; where one of them is missing it says so.

import { api, is, page } from '../api.js';
import { ask, confirm } from '../dialogs.js';
import { fill, h } from '../dom.js';
import { day } from '../format.js';
import { badge, busy, button, empty, field, heading, linkButton, loading, notice, table, toast } from '../ui.js';

const LIST = '/admin/organizations';

/** The view. */
export function operator() {
  let loaded = { items: [], next: null };
  const rows = h('div', {});
  const box = loading(async () => {
    try {
      loaded = await page(LIST, 'organizations');
      return null;
    } catch (error) {
      if (is(error, 'operator_required')) return error;
      throw error;
    }
  }, (refused) => {
    if (refused) return empty('operator', 'Not in this session', `${refused.message} It takes a session in the operator's organization, opened with a second factor within the last 12 hours.`, linkButton('Sign in again', 'sign-in'));
    draw();
    return rows;
  });
  const draw = () => {
    const say = notice();
    const more = button('Load more', () => busy(more, () => page(LIST, 'organizations', { cursor: loaded.next }).then((part) => {
      loaded = { items: [...loaded.items, ...part.items], next: part.next };
      draw();
    }, say.fail)));
    fill(rows, loaded.items.length ? table('Organizations', ['Organization', 'Plan', 'Status', 'Created', ''], loaded.items.map(line)) : empty('operator', 'No organizations', 'The first one is created here.'),
      say, loaded.next && h('div', { class: 'actions center' }, more));
  };
  const line = (org) => [
    h('div', { class: 'who' }, h('strong', {}, org.name), h('code', {}, org.slug)),
    badge(org.plan),
    badge(org.status === 'active' ? 'Active' : 'Suspended', org.status === 'active' ? 'good' : 'bad'),
    day(org.createdAt),
    h('div', { class: 'buttons' },
      button('Edit', () => edit(org, box.reload), { kind: 'small', 'aria-label': `Edit ${org.name}` }),
      button('Invite admin', () => inviteAdmin(org), { kind: 'small', 'aria-label': `Invite an admin of ${org.name}` }),
      turn(org, box.reload)),
  ];
  return [heading('Organizations', 'Every organization of this deployment.', button('Create organization', () => create(box.reload), { kind: 'primary', mark: 'plus' })), box];
}

const at = (org) => `${LIST}/${org.slug}`;
const planField = (value) => field({ label: 'Plan', name: 'plan', value, pattern: '[a-z0-9_\\-]{1,32}', title: 'lower-case letters, digits, _ and -', optional: true, hint: 'Your own word, such as “pro”; “free” if left empty.' });

function create(done) {
  const name = field({ label: 'Name', name: 'name', maxlength: 100 });
  const slug = field({ label: 'Slug', name: 'slug', pattern: '[a-z0-9]+(-[a-z0-9]+)*', minlength: 2, maxlength: 63, title: 'lower-case letters, digits and hyphens', autocapitalize: 'none', hint: 'Its short name for ever: lower-case letters, digits, hyphens.' });
  const email = field({ label: 'Email of the first admin', name: 'adminEmail', type: 'email', hint: 'Gets an invite.' });
  const plan = planField('');
  const app = field({ label: 'Application URL', name: 'appUrl', type: 'url', optional: true, placeholder: 'https://app.example.com' });
  ask({
    title: 'Create an organization', fields: [name, slug, email, plan, app], submit: 'Create organization', at: { slug_taken: 'slug' },
    onsubmit: async (dialog) => {
      const { org, invite } = await api('POST', LIST, { name: name.value, slug: slug.value, adminEmail: email.value, ...(plan.value && { plan: plan.value }), ...(app.value && { appUrl: app.value }) });
      dialog.close();
      toast(`${org.name} was created; ${invite.email} is invited.`);
      done();
    },
  });
}

function edit(org, done) {
  const name = field({ label: 'Name', name: 'name', value: org.name, maxlength: 100 });
  const plan = planField(org.plan);
  ask({
    title: `Edit ${org.name}`, fields: [name, plan], submit: 'Save changes',
    onsubmit: async (dialog) => {
      await api('PATCH', at(org), { name: name.value, plan: plan.value || 'free' });
      dialog.close();
      toast('The organization was saved.');
      done();
    },
  });
}

function turn(org, done) {
  const active = org.status === 'active';
  const run = async () => {
    await api('PATCH', at(org), { status: active ? 'suspended' : 'active' });
    toast(`${org.name} is ${active ? 'suspended' : 'active again'}.`);
    done();
  };
  const question = () => confirm({
    title: active ? `Suspend ${org.name}?` : `Reactivate ${org.name}?`, action: active ? 'Suspend' : 'Reactivate', kind: active ? 'danger' : 'primary', run,
    text: active ? 'Nobody can sign in to it, and its backends are told that no session is valid, until it is reactivated.' : 'Its members can sign in again, and sessions that have not run out work again.',
  });
  return button(active ? 'Suspend' : 'Reactivate', question, { kind: active ? 'small danger-quiet' : 'small', 'aria-label': `${active ? 'Suspend' : 'Reactivate'} ${org.name}` });
}

function inviteAdmin(org) {
  const email = field({ label: 'Email address', name: 'email', type: 'email' });
  ask({
    title: `Invite an admin of ${org.name}`, text: 'For an organization that nobody administers any more.', fields: [email], submit: 'Send invite',
    at: { already_member: 'email', already_invited: 'email' },
    onsubmit: async (dialog) => {
      const { invite } = await api('POST', `${at(org)}/invites`, { email: email.value });
      dialog.close();
      toast(`${invite.email} is invited.`);
    },
  });
}
