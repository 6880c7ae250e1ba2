// API keys for the organization's backends. A key is shown once, when it is made; afterwards only how it begins and ends.

import { all, api } from '../api.js';
import { ask, confirm, showOnce } from '../dialogs.js';
import { h } from '../dom.js';
import { ago, day } from '../format.js';
import { badge, button, checkbox, empty, field, heading, loading, table, toast } from '../ui.js';

const SCOPES = [
  ['verify', 'Verify access tokens', true],
  ['users:read', 'Read users', true],
  ['members:read', 'Read members', true],
  ['proxy', 'Forward sign-ins for a frontend', false],
];
const DAY = 86_400;
const OVERLAPS = [[0, 'Not at all: it dies now'], [3600, 'For an hour'], [DAY, 'For a day'], [7 * DAY, 'For a week']];

/** The view. */
export function keys(context) {
  const box = loading(() => all('/org/api-keys', 'apiKeys'), (list) => {
    if (!list.length) return empty('key', 'No API keys', 'A backend needs one to verify who its users are.', button('Create a key', add));
    return table('API keys', ['Key', 'Scopes', 'Last used', 'Expires', ''], list.map(line));
  });
  const add = () => create(box.reload);
  const line = (key) => {
    const rotate = button('Rotate', () => renew(key, box.reload), { kind: 'small', 'aria-label': `Rotate ${key.name}` });
    const revoke = button('Revoke', () => confirm({
      title: `Revoke “${key.name}”?`, action: 'Revoke',
      text: 'Every request with this key is refused from this moment. This cannot be undone.',
      run: async () => {
        const { message } = await api('DELETE', `/org/api-keys/${key.id}`);
        toast(message);
        box.reload();
      },
    }), { kind: 'small danger-quiet', 'aria-label': `Revoke ${key.name}` });
    return [
      h('div', { class: 'who' }, h('strong', {}, key.name), h('code', {}, `${key.prefix}…${key.lastFour}`)),
      h('div', { class: 'badges' }, key.scopes.map((scope) => badge(scope))),
      key.lastUsedAt ? ago(key.lastUsedAt) : h('span', { class: 'faint' }, 'Never'),
      key.expiresAt ? ago(key.expiresAt) : h('span', { class: 'faint' }, 'Never'),
      h('div', { class: 'buttons' }, rotate, revoke),
    ];
  };
  return [heading('API keys', `Your backends use them, with the slug “${context.org.slug}”. They must never reach a browser.`, button('Create key', add, { kind: 'primary', mark: 'plus' })), box];
}

function create(done) {
  const name = field({ label: 'Name', name: 'name', maxlength: 100, hint: 'What will use it, such as “billing service”.', autocomplete: 'off' });
  const scopes = SCOPES.map(([value, label, checked]) => checkbox({ label, hint: value, name: 'scopes', value, checked }));
  const expires = field({ label: 'Expires', name: 'expiresAt', type: 'select', options: [['', 'Never'], [30, 'In 30 days'], [90, 'In 90 days'], [365, 'In a year']], optional: true });
  const group = Object.assign(h('fieldset', {}, h('legend', {}, 'Scopes'), scopes), {});
  ask({
    title: 'Create an API key',
    fields: [name, group, expires],
    submit: 'Create key',
    onsubmit: async (dialog) => {
      const days = Number(expires.value);
      const data = await api('POST', '/org/api-keys', {
        name: name.value,
        scopes: scopes.filter((one) => one.input.checked).map((one) => one.input.value),
        ...(days && { expiresAt: new Date(Date.now() + days * DAY * 1000).toISOString() }),
      });
      dialog.close();
      done();
      showKey(data, 'Your new API key');
    },
  });
}

function renew(key, done) {
  const overlap = field({ label: 'How long does the old key still work?', name: 'overlapSeconds', type: 'select', value: DAY, options: OVERLAPS, hint: 'Time to put the new one in place.' });
  ask({
    title: `Rotate “${key.name}”`,
    text: 'A new key takes its place, with the same name and scopes.',
    fields: [overlap],
    submit: 'Rotate key',
    onsubmit: async (dialog) => {
      const data = await api('POST', `/org/api-keys/${key.id}/rotate`, { overlapSeconds: Number(overlap.value) });
      dialog.close();
      done();
      showKey(data, 'The new API key');
    },
  });
}

const showKey = ({ apiKey, key }, title) => showOnce({
  title, label: `API key “${apiKey.name}”`, secret: key,
  text: ['Send it in the header ', h('code', {}, 'X-API-Key'), '.', apiKey.expiresAt && [' It expires on ', day(apiKey.expiresAt), '.']],
});
