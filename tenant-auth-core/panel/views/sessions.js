// Where somebody is signed in to this organization, and ending what they do not recognise.

import { all, api } from '../api.js';
import { confirm } from '../dialogs.js';
import { h } from '../dom.js';
import { ago, device, moment } from '../format.js';
import { badge, button, heading, loading, table, toast } from '../ui.js';

/** The view. */
export function sessions(context) {
  const others = button('End all others', () => confirm({
    title: 'End all other sessions?', action: 'End all others',
    text: `You stay signed in here. Every other device is signed out of ${context.org.name} at once.`,
    run: () => end('/auth/sessions'),
  }), { kind: 'danger-quiet' });
  const end = async (path) => {
    const { message } = await api('DELETE', path);
    toast(message);
    box.reload();
  };
  const line = (one) => [
    h('div', { class: 'who' }, h('strong', {}, device(one.userAgent)), h('small', { class: 'break' }, one.ip ?? 'Unknown address')),
    moment(one.createdAt),
    one.current ? badge('This one', 'good') : ago(one.lastUsedAt),
    one.current ? '' : button('End', () => confirm({
      title: 'End this session?', action: 'End session',
      text: `${device(one.userAgent)}, signed in from ${one.ip ?? 'an unknown address'}, is signed out at once.`,
      run: () => end(`/auth/sessions/${one.id}`),
    }), { kind: 'small danger-quiet', 'aria-label': `End the session on ${device(one.userAgent)}` }),
  ];
  const box = loading(() => all('/auth/sessions', 'sessions'), (list) => {
    others.hidden = list.length < 2;
    const sorted = list.toSorted((a, b) => b.current - a.current || b.lastUsedAt.localeCompare(a.lastUsedAt));
    return table('Your sessions', ['Device', 'Signed in', 'Last used', ''], sorted.map(line));
  });
  return [heading('Sessions', `Where you are signed in to ${context.org.name}. Sessions in other organizations are shown there.`, others), box];
}
