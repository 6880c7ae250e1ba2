// Where the organization's events are sent. The secret that signs them is shown once, when a webhook is made.

import { all, api } from '../api.js';
import { ask, showOnce } from '../dialogs.js';
import { h } from '../dom.js';
import { day } from '../format.js';
import { KINDS } from '../kinds.js';
import { badge, button, checkbox, empty, field, heading, loading, table } from '../ui.js';

/** The view. */
export function webhooks(context) {
  const box = loading(() => all('/org/webhooks', 'webhooks'), (list) => {
    if (!list.length) return empty('webhook', 'No webhooks', 'Your application can be told what happens here, as it happens.', button('Create a webhook', add));
    return table('Webhooks', ['Endpoint', 'Events', 'Status', 'Created', ''], list.map(line));
  });
  const add = () => create(box.reload);
  const line = (one) => [
    h('div', { class: 'who' }, h('strong', {}, one.url), one.description && h('small', {}, one.description)),
    h('span', { title: one.events.join(', ') }, one.events.includes('*') ? 'All' : one.events.length),
    statusBadge(one),
    day(one.createdAt),
    h('a', { class: 'button small', href: `#/webhooks/${one.id}`, 'aria-label': `Open ${one.url}` }, 'Open'),
  ];
  return [heading('Webhooks', `Signed notifications of what happens in ${context.org.name}, sent to your endpoints.`, button('Create webhook', add, { kind: 'primary', mark: 'plus' })), box];
}

export const statusBadge = (one) => badge(one.status === 'active' ? 'Active' : 'Disabled', one.status === 'active' ? 'good' : 'bad');

/** The fields of a webhook; `read()` answers the body of a request. */
export function webhookFields(one) {
  const url = field({ label: 'Endpoint URL', name: 'url', type: 'url', value: one?.url ?? '', placeholder: 'https://app.example.com/webhooks', hint: 'It must use https and be reachable from the internet.' });
  const description = field({ label: 'Description', name: 'description', value: one?.description ?? '', maxlength: 200, optional: true });
  const kinds = picker(one?.events ?? []);
  return {
    fields: [url, kinds, description],
    check: () => (kinds.picked().length ? null : ['events', 'Choose at least one kind.']),
    read: () => ({ url: url.value.trim(), events: kinds.picked(), description: description.value }),
  };
}

/** Kinds by group: all, a whole group, or one by one. What a wider choice covers is ticked and cannot be unticked. */
function picker(chosen) {
  const groups = [...new Set(KINDS.map((kind) => kind.split('.')[0]))];
  const box = (value, label) => checkbox({ label, name: 'events', value, checked: chosen.includes(value) });
  const whole = box('*', 'Everything, also kinds that come later');
  const parts = groups.map((group) => ({ all: box(`${group}.*`, `All of ${group}.*`), each: KINDS.filter((kind) => kind.startsWith(`${group}.`)).map((kind) => box(kind, kind)) }));
  const error = h('p', { class: 'hint', role: 'alert' });
  const cover = (one, covered) => {
    one.input.disabled = covered;
    one.classList.toggle('covered', covered);
  };
  const settle = () => {
    error.textContent = '';
    for (const part of parts) {
      cover(part.all, whole.input.checked);
      part.each.forEach((one) => cover(one, whole.input.checked || part.all.input.checked));
    }
  };
  const sections = parts.map((part, index) => h('details', { open: part.each.some((one) => one.input.checked) }, h('summary', {}, groups[index]), part.all, part.each));
  const element = h('fieldset', { class: 'kinds', onchange: settle }, h('legend', {}, 'Events'), whole, sections, error);
  settle();
  const boxes = [whole, ...parts.flatMap((part) => [part.all, ...part.each])];
  return Object.assign(element, {
    input: Object.assign(whole.input, { name: 'events' }),
    fail(message) {
      element.classList.toggle('wrong', Boolean(message));
      error.textContent = message;
    },
    picked: () => boxes.filter((one) => one.input.checked && !one.input.disabled).map((one) => one.input.value),
  });
}

function create(done) {
  const { fields, check, read } = webhookFields();
  ask({
    title: 'Create a webhook', wide: true, fields, check, submit: 'Create webhook',
    onsubmit: async (dialog) => {
      const { webhook, secret } = await api('POST', '/org/webhooks', read());
      dialog.close();
      done();
      showSecret(secret, () => (location.hash = `#/webhooks/${webhook.id}`));
    },
  });
}

/** Shows a signing secret, once. */
export const showSecret = (secret, onclose) => showOnce({
  title: 'The signing secret', label: 'Signing secret', secret, onclose,
  text: 'Your endpoint checks with it that a notification is ours, with any Standard Webhooks library.',
});
