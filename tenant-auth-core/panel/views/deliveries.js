// What was sent to a webhook, the latest first, and sending it again.

import { ago, api, badge, busy, button, empty, h, listing, moment, rowButton, toast } from '../kit.js';

const STATUS = { pending: ['Pending', 'wait'], retrying: ['Retrying', 'wait'], succeeded: ['Delivered', 'good'], failed: ['Failed', 'bad'], cancelled: ['Cancelled'] };
const ERRORS = { blocked: 'address not allowed', unreachable: 'not reachable', timeout: 'no answer in time', tls: 'TLS failed', status: 'refused' };
const FILTERS = [['status', 'Result', [['', 'Every result'], ['failed', 'Failed'], ['pending', 'Pending'], ['succeeded', 'Delivered'], ['cancelled', 'Cancelled']]]];

export const outcome = (one) => [
	badge(...STATUS[one.status === 'pending' && one.lastError ? 'retrying' : one.status]),
	one.lastStatusCode && h('code', String(one.lastStatusCode)),
	one.lastError && h('span', ERRORS[one.lastError] ?? one.lastError),
	one.lastError && one.nextAttemptAt && h('span.faint', 'again ', ago(one.nextAttemptAt)),
];

export function deliveries(path, isActive) {
	const again = (one) => api('POST', `${path}/deliveries/${one.id}/redeliver`).then(() => {
		toast('It is sent again.');
		return list.reload();
	}, (error) => toast(error.message));
	const line = (one) => {
		const redeliver = rowButton('Redeliver', `${one.event} ${one.eventId}`, () => busy(redeliver, () => again(one)), '', { disabled: !isActive });
		return [h('div.who', h('strong', one.event), h('code', one.eventId)), h('div.badges', outcome(one)), String(one.attempts), moment(one.createdAt), redeliver];
	};
	const refresh = button('Refresh', () => busy(refresh, () => list.reload()), { kind: 'small' });
	const list = listing({
		path: `${path}/deliveries`, key: 'deliveries', noun: 'deliveries', columns: ['Event', 'Result', 'Attempts', 'Created', ''], order: 'desc', filters: FILTERS, line,
		nothing: () => empty('webhooks', 'Nothing yet', 'What is sent appears here for 30 days.'),
	});
	const box = h('div', h('div.actions', refresh), list);
	return Object.assign(box, { reload: list.reload });
}
