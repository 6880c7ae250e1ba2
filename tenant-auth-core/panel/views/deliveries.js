// What was sent to a webhook, the latest first; one of them in full; and sending it again.

import { ago, api, badge, busy, button, empty, facts, h, listing, loading, moment, number, open, parts, rowButton, t, table, toast } from '../kit.js';
import { parseKeeping, pretty } from '../json.js';
import { words } from '../words.js';

const STATUS = { pending: [t('panel.delivery.pending'), 'wait'], retrying: [t('panel.delivery.retrying'), 'wait'], succeeded: [t('panel.delivery.succeeded'), 'good'], failed: [t('panel.delivery.failed'), 'bad'], cancelled: [t('panel.delivery.cancelled')] };
const ERRORS = { blocked: t('panel.delivery.error.blocked'), unreachable: t('panel.delivery.error.unreachable'), timeout: t('panel.delivery.error.timeout'), tls: t('panel.delivery.error.tls'), status: t('panel.delivery.error.status') };
const FILTERS = [['status', t('panel.column.result'), [['', t('panel.delivery.every')], ['failed', t('panel.delivery.failed')], ['pending', t('panel.delivery.pending')], ['succeeded', t('panel.delivery.succeeded')], ['cancelled', t('panel.delivery.cancelled')]]]];

export const outcome = (one) => [
	badge(...STATUS[one.status === 'pending' && one.lastError ? 'retrying' : one.status]),
	one.lastStatusCode && h('code', String(one.lastStatusCode)),
	one.lastError && h('span', ERRORS[one.lastError] ?? one.lastError),
	one.lastError && one.nextAttemptAt && h('span.faint', parts('panel.delivery.again', { when: ago(one.nextAttemptAt) })),
];

export function deliveries(path, isActive) {
	const again = (one) => api('POST', `${path}/deliveries/${one.id}/redeliver`).then(() => {
		toast(t('panel.delivery.sent'));
		return list.reload();
	}, (error) => toast(words(error), true));
	const line = (one) => {
		const redeliver = rowButton(t('panel.delivery.redeliver'), `${one.event} ${one.eventId}`, () => busy(redeliver, () => again(one)), '', { disabled: !isActive });
		return [h('div.who', h('strong', one.event), h('code', one.eventId)), h('div.badges', outcome(one)), String(one.attempts), moment(one.createdAt), h('div.buttons', rowButton(t('panel.details'), `${one.event} ${one.eventId}`, () => details(path, one)), redeliver)];
	};
	const refresh = button(t('panel.refresh'), () => busy(refresh, () => list.reload()), { kind: 'small' });
	const list = listing({
		path: `${path}/deliveries`, key: 'deliveries', noun: 'deliveries', columns: [t('panel.column.event'), t('panel.column.result'), t('panel.column.attempts'), t('panel.column.created'), ''], order: 'desc', filters: FILTERS, line,
		nothing: () => empty('webhooks', t('panel.delivery.none.title'), t('panel.delivery.none.text')),
	});
	const box = h('div', h('div.actions', refresh), list);
	return Object.assign(box, { reload: list.reload });
}

// What is sent, as it is sent, and what came of each attempt.
function details(path, { id, event }) {
	open(event, () => loading(() => api('GET', `${path}/deliveries/${id}`, undefined, { parse: parseKeeping('payload') }), ({ delivery: one }) => [
		facts([t('panel.column.result'), h('div.badges', outcome(one))], [t('panel.column.created'), moment(one.createdAt)], [t('panel.column.event'), h('code.break', one.eventId)], [t('panel.delivery.one'), h('code.break', one.id)]),
		h('h3', t('panel.column.attempts')),
		one.attemptLog.length
			? table(t('panel.column.attempts'), [t('panel.column.when'), t('panel.column.answer'), t('panel.column.took')], one.attemptLog.map((each) => [
				moment(each.at),
				h('div.badges', each.error ? badge(ERRORS[each.error] ?? each.error, 'bad') : badge(t('panel.delivery.succeeded'), 'good'), each.statusCode && h('code', String(each.statusCode))),
				`${number(each.durationMs)} ms`,
			]))
			: h('p.hint', t('panel.delivery.no_attempts')),
		h('h3', t('panel.delivery.payload')),
		one.payload === 'null' ? h('p.hint', t('panel.delivery.expired')) : h('pre', { tabindex: '0', 'aria-label': t('panel.delivery.payload') }, pretty(one.payload)),
	]), { wide: true });
}
