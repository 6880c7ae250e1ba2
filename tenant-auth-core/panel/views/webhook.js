// One webhook: what it gets, a test whose result is watched as it happens, what was delivered and what was not, its secret.

import { all, api, is } from '../api.js';
import { ask, confirm } from '../dialogs.js';
import { fill, h, icon } from '../dom.js';
import { ago, moment } from '../format.js';
import { badge, busy, button, card, empty, facts, field, form, heading, loading, notice, table, toast } from '../ui.js';
import { showSecret, statusBadge, webhookFields } from './webhooks.js';

const STATUS = { pending: ['Pending', 'wait'], succeeded: ['Delivered', 'good'], failed: ['Failed', 'bad'], cancelled: ['Cancelled', ''] };
const ERRORS = { blocked: 'address not allowed', unreachable: 'not reachable', timeout: 'no answer in time', tls: 'TLS failed', status: 'refused' };
const SHOWN = 50;
const WATCH = { every: 500, times: 40 };

/** The view. */
export function webhook(context) {
  const path = `/org/webhooks/${encodeURIComponent(context.detail)}`;
  const box = loading(() => api('GET', path), ({ webhook: one }) => whole(path, one, box.reload));
  return [h('p', { class: 'way-back' }, h('a', { href: '#/webhooks' }, icon('back'), ' Webhooks')), box];
}

function whole(path, one, reload) {
  const list = deliveries(path, one);
  const patch = (body, text) => api('PATCH', path, body).then(() => {
    toast(text);
    return reload();
  });
  const say = notice();
  const disable = () => confirm({
    title: 'Disable this webhook?', action: 'Disable',
    text: 'Nothing more is sent to it, and what is pending is cancelled. It can be enabled again.',
    run: () => patch({ status: 'disabled' }, 'The webhook is disabled.'),
  });
  const enable = button('Enable', () => busy(enable, () => patch({ status: 'active' }, 'The webhook is active.').catch(say.fail)));
  const remove = () => confirm({
    title: 'Delete this webhook?', action: 'Delete',
    text: 'Its deliveries and its secret are deleted. This cannot be undone.',
    run: async () => {
      await api('DELETE', path);
      toast('The webhook was deleted.');
      location.hash = '#/webhooks';
    },
  });
  const edit = () => {
    const { fields, check, read } = webhookFields(one);
    ask({
      title: 'Edit webhook', wide: true, fields, check, submit: 'Save webhook',
      onsubmit: (dialog) => patch(read(), 'The webhook was saved.').then(() => dialog.close()),
    });
  };
  return [
    heading(one.url, one.description),
    card('Subscription', null,
      facts([['Status', statusBadge(one)], ['Events', h('div', { class: 'badges' }, one.events.map((kind) => badge(kind)))], ['Created', moment(one.createdAt)], ['Id', h('code', {}, one.id)]]),
      say,
      h('div', { class: 'actions' }, button('Edit', edit), button('Rotate secret', () => rotate(path)),
        one.status === 'active' ? button('Disable', disable, { kind: 'danger-quiet' }) : enable, button('Delete', remove, { kind: 'danger-quiet' }))),
    test(path, one, list),
    card('Deliveries', 'The latest first. Whatever fails is tried again for some days.', list),
  ];
}

function test(path, one, list) {
  const say = notice();
  const result = h('div', { class: 'live', role: 'status' }, h('span', { class: 'faint' }, 'The result appears here.'));
  const send = button('Send a test', () => busy(send, async () => {
    say.clear();
    fill(result, badge('Sending', 'wait'), 'Waiting for your endpoint…');
    try {
      const { delivery } = await api('POST', `${path}/test`);
      await watch(path, delivery.id, (seen) => fill(result, outcome(seen)));
      list.reload();
    } catch (error) {
      fill(result);
      say.fail(error);
    }
  }), { kind: 'primary', disabled: one.status !== 'active' });
  return card('Test', 'Sends the event webhook.test, signed like every other.', h('div', { class: 'stack' }, say, h('div', { class: 'actions' }, send, result)));
}

/** Looks at a delivery until its first attempt is over. */
async function watch(path, id, show) {
  for (let round = 0; round < WATCH.times; round += 1) {
    const seen = (await all(`${path}/deliveries`, 'deliveries')).find((one) => one.id === id);
    if (seen && (seen.status !== 'pending' || seen.attempts > 0)) return show(seen);
    await new Promise((resolve) => setTimeout(resolve, WATCH.every));
  }
  show({ status: 'pending', attempts: 0 });
}

const outcome = (one) => [
  badge(...STATUS[one.status]),
  one.lastStatusCode && h('code', {}, String(one.lastStatusCode)),
  one.lastError && h('span', {}, ERRORS[one.lastError] ?? one.lastError),
  one.status === 'pending' && one.attempts > 0 && one.nextAttemptAt && h('span', { class: 'faint' }, 'again ', ago(one.nextAttemptAt)),
];

function deliveries(path, hook) {
  const box = loading(() => all(`${path}/deliveries`, 'deliveries'), (list) => {
    const reload = button('Refresh', () => busy(reload, box.reload), { kind: 'small' });
    const shown = list.toReversed().slice(0, SHOWN);
    const rows = shown.length ? table('Deliveries', ['Event', 'Result', 'Attempts', 'Created', ''], shown.map(line)) : empty('webhook', 'Nothing yet', 'What is sent to this endpoint appears here for 30 days.');
    return [h('div', { class: 'toolbar' }, reload, h('span', { class: 'count-line' }, list.length > SHOWN && `The latest ${SHOWN} of ${list.length}`)), rows];
  });
  const line = (one) => {
    const again = button('Redeliver', () => busy(again, () => api('POST', `${path}/deliveries/${one.id}/redeliver`).then(() => {
      toast('It is sent again.');
      return box.reload();
    }, (error) => toast(is(error, 'not_found') ? 'This event is no longer kept.' : error.message))), { kind: 'small', disabled: hook.status !== 'active', 'aria-label': `Redeliver ${one.event}` });
    return [h('div', { class: 'who' }, h('strong', {}, one.event), h('code', {}, one.eventId)), h('div', { class: 'badges' }, outcome(one)), one.attempts, moment(one.createdAt), again];
  };
  return box;
}

function rotate(path) {
  const overlap = field({
    label: 'How long does the old secret still sign?', name: 'overlapSeconds', type: 'select', value: 86_400,
    options: [[0, 'Not at all'], [3600, 'For an hour'], [86_400, 'For a day'], [604_800, 'For a week']],
    hint: 'Meanwhile each notification carries both signatures.',
  });
  ask({
    title: 'Rotate the signing secret', fields: [overlap], submit: 'Rotate secret',
    onsubmit: async (dialog) => {
      const { secret } = await api('POST', `${path}/rotate-secret`, { overlapSeconds: Number(overlap.value) });
      dialog.close();
      showSecret(secret);
    },
  });
}
