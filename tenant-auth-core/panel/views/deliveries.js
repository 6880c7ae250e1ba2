// What was sent to a webhook, the latest first; one of them in full; and sending it again.

import { ago, api, badge, busy, button, empty, facts, h, listing, loading, moment, open, rowButton, table, toast } from '../kit.js';
import { parseKeeping, pretty } from '../json.js';
import { words } from '../words.js';

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
	}, (error) => toast(words(error)));
	const line = (one) => {
		const redeliver = rowButton('Redeliver', `${one.event} ${one.eventId}`, () => busy(redeliver, () => again(one)), '', { disabled: !isActive });
		return [h('div.who', h('strong', one.event), h('code', one.eventId)), h('div.badges', outcome(one)), String(one.attempts), moment(one.createdAt), h('div.buttons', rowButton('Details', `${one.event} ${one.eventId}`, () => details(path, one)), redeliver)];
	};
	const refresh = button('Refresh', () => busy(refresh, () => list.reload()), { kind: 'small' });
	const list = listing({
		path: `${path}/deliveries`, key: 'deliveries', noun: 'deliveries', columns: ['Event', 'Result', 'Attempts', 'Created', ''], order: 'desc', filters: FILTERS, line,
		nothing: () => empty('webhooks', 'Nothing yet', 'What is sent appears here for 30 days.'),
	});
	const box = h('div', h('div.actions', refresh), list);
	return Object.assign(box, { reload: list.reload });
}

// What is sent, as it is sent, and what came of each attempt.
function details(path, { id, event }) {
	open(event, () => loading(() => api('GET', `${path}/deliveries/${id}`, undefined, { parse: parseKeeping('payload') }), ({ delivery: one }) => [
		facts(['Result', h('div.badges', outcome(one))], ['Created', moment(one.createdAt)], ['Event', h('code.break', one.eventId)], ['Delivery', h('code.break', one.id)]),
		h('h3', 'Attempts'),
		one.attemptLog.length
			? table('Attempts', ['When', 'Answer', 'Took'], one.attemptLog.map((each) => [
				moment(each.at),
				h('div.badges', each.error ? badge(ERRORS[each.error] ?? each.error, 'bad') : badge('Delivered', 'good'), each.statusCode && h('code', String(each.statusCode))),
				`${each.durationMs.toLocaleString('en')} ms`,
			]))
			: h('p.hint', 'None yet.'),
		h('h3', 'Payload'),
		one.payload === 'null' ? h('p.hint', 'The event is kept no longer.') : h('pre', { tabindex: '0', 'aria-label': 'Payload' }, pretty(one.payload)),
	]), { wide: true });
}
