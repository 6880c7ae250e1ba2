// Who belongs to the organization. Everybody may see it; admins can open a member to manage it. The search looks through what
// has been loaded and says so while there is more.

import { page } from '../api.js';
import { fill, h, icon } from '../dom.js';
import { count, day, roleName } from '../format.js';
import { parseKeepingMetadata } from '../json.js';
import { badge, busy, button, empty, heading, loading, notice, table } from '../ui.js';
import { inviteSomebody } from './invites.js';
import { openMember } from './member.js';

/** The view. */
export function members(context) {
  let loaded = { items: [], next: null };
  const more = (cursor) => page('/org/members', 'members', { cursor, parse: parseKeepingMetadata });
  const load = async () => (loaded = await more());
  const search = h('input', { type: 'search', placeholder: 'Search by name or email', 'aria-label': 'Search members', autocomplete: 'off' });
  const rows = h('div', {});
  const state = h('p', { class: 'count-line', role: 'status' });
  const box = loading(load, () => {
    draw();
    return [h('div', { class: 'toolbar' }, h('div', { class: 'search' }, icon('search'), search), state), rows];
  }, { lines: 5 });

  const found = () => {
    const wanted = search.value.trim().toLowerCase();
    return loaded.items.filter((one) => `${one.name}\n${one.email}`.toLowerCase().includes(wanted));
  };
  const draw = () => {
    const shown = found();
    const total = loaded.next ? `the first ${count(loaded.items.length, 'member')}` : count(loaded.items.length, 'member');
    state.textContent = search.value.trim() ? `${shown.length} found in ${total}` : loaded.next ? `Showing ${total}` : total;
    fill(rows, shown.length ? list(shown) : empty('search', 'Nobody found', loaded.next ? 'Nobody among those loaded so far. Load the others to search them, too.' : 'No name or address contains this text.'), rest());
  };
  const rest = () => {
    if (!loaded.next) return null;
    const say = notice();
    const get = (element, whole) => busy(element, async () => {
      try {
        do {
          const part = await more(loaded.next);
          loaded = { items: [...loaded.items, ...part.items], next: part.next };
        } while (whole && loaded.next);
        draw();
      } catch (error) {
        say.fail(error);
      }
    });
    const next = button('Load more', () => get(next, false));
    const everybody = button('Load all', () => get(everybody, true));
    return h('div', {}, say, h('div', { class: 'actions center' }, next, everybody));
  };
  const line = (one) => [
    h('div', { class: 'who' }, h('strong', {}, one.name, one.userId === context.user.id && h('span', { class: 'you' }, ' you')), h('small', {}, one.email)),
    badge(roleName(one.role), one.role === 'org_admin' ? 'tint' : ''),
    badge(one.status === 'active' ? 'Active' : 'Suspended', one.status === 'active' ? 'good' : 'bad'),
    day(one.joinedAt),
    button(context.isAdmin ? 'Manage' : 'Details', () => openMember(context, one, box.reload), { kind: 'small', 'aria-label': `${context.isAdmin ? 'Manage' : 'Details of'} ${one.name}` }),
  ];
  const list = (shown) => table('Members', ['Member', 'Role', 'Status', 'Joined', ''], shown.map(line));
  search.addEventListener('input', draw);
  const invite = context.isAdmin && button('Invite', () => inviteSomebody(), { kind: 'primary', mark: 'plus' });
  return [heading('Members', `Everybody who can sign in to ${context.org.name}.`, invite), box];
}
