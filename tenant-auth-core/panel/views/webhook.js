// One webhook: its settings, a test whose result is watched as it happens, what was delivered and what was not.

import { ago, all, api, ask, badge, busy, button, card, confirm, empty, facts, fill, h, heading, icon, loading, moment, notice, overlapField, rowButton, statusBadge, table, toast } from '../kit.js';
import { showSecret, webhookFields } from './webhooks.js';

const STATUS = { pending: ['Pending', 'wait'], succeeded: ['Delivered', 'good'], failed: ['Failed', 'bad'], cancelled: ['Cancelled'] };
const ERRORS = { blocked: 'address not allowed', unreachable: 'not reachable', timeout: 'no answer in time', tls: 'TLS failed', status: 'refused' };
const SHOWN = 50;
// A test is watched by so many looks, so many milliseconds apart.
const LOOKS = [40, 500];

export function webhook({ detail }) {
	const path = `/org/webhooks/${encodeURIComponent(detail)}`;
	const box = loading(() => api('GET', path), ({ webhook: one }) => whole(path, one, box.reload));
	return [h('p.way-back', h('a', { href: '#/webhooks' }, icon('back'), 'Webhooks')), box];
}

function whole(path, one, reload) {
	const isActive = one.status === 'active';
	const list = deliveries(path, isActive);
	const patch = (body, said) => api('PATCH', path, body).then(() => said);
	const turn = () => confirm(isActive
		? { title: 'Disable this webhook?', action: 'Disable', text: 'Nothing more is sent to it, and what is pending is cancelled.', run: () => patch({ status: 'disabled' }, 'The webhook is disabled.'), done: reload }
		: { title: 'Enable this webhook?', action: 'Enable', kind: 'primary', text: 'What happens from now on is sent to it.', run: () => patch({ status: 'active' }, 'The webhook is active.'), done: reload });
	const remove = () => confirm({
		title: 'Delete this webhook?', action: 'Delete', text: 'Its deliveries and its secret are deleted. This cannot be undone.', run: () => api('DELETE', path),
		done: () => (location.hash = '#/webhooks'),
	});
	const edit = () => {
		const { fields, check, read } = webhookFields(one);
		ask({ title: 'Edit webhook', wide: true, fields, check, submit: 'Save webhook', onsubmit: () => patch(read(), 'The webhook was saved.'), done: reload });
	};
	return [
		heading(one.url, one.description),
		card('Subscription', null,
			facts(['Status', statusBadge(one)], ['Events', h('div.badges', one.events.map((kind) => badge(kind)))], ['Created', moment(one.createdAt)], ['Id', h('code', one.id)]),
			h('div.actions', button('Edit', edit), button('Rotate secret', () => rotate(path)),
				button(isActive ? 'Disable' : 'Enable', turn, { kind: isActive ? 'danger-quiet' : '' }), button('Delete', remove, { kind: 'danger-quiet' }))),
		test(path, isActive, list.reload),
		card('Deliveries', 'The latest first. What fails is tried again for some days.', list),
	];
}

function test(path, isActive, done) {
	const say = notice();
	const result = h('div.live', { role: 'status' }, h('span.faint', 'The result appears here.'));
	const run = async () => {
		say.clear();
		fill(result, badge('Sending', 'wait'), 'Waiting for your endpoint…');
		try {
			const { delivery } = await api('POST', `${path}/test`);
			fill(result, outcome(await watch(path, delivery.id)));
			done();
		} catch (error) {
			fill(result);
			say.fail(error);
		}
	};
	const send = button('Send a test', () => busy(send, run), { kind: 'primary', disabled: !isActive });
	return card('Test', 'Sends the event webhook.test, signed like every other.', say, h('div.actions', send, result));
}

// Looks at a delivery until its first attempt is over.
async function watch(path, id) {
	const [times, pause] = LOOKS;
	for (let look = 0; look < times; look += 1) {
		const seen = (await all(`${path}/deliveries`, 'deliveries')).find((one) => one.id === id);
		if (seen && (seen.status !== 'pending' || seen.lastError)) return seen;
		await new Promise((resolve) => setTimeout(resolve, pause));
	}
	return { status: 'pending', attempts: 0 };
}

const outcome = (one) => [
	badge(...STATUS[one.status]),
	one.lastStatusCode && h('code', String(one.lastStatusCode)),
	one.lastError && h('span', ERRORS[one.lastError] ?? one.lastError),
	one.lastError && one.nextAttemptAt && h('span.faint', 'again ', ago(one.nextAttemptAt)),
];

function deliveries(path, isActive) {
	const again = (one) => api('POST', `${path}/deliveries/${one.id}/redeliver`).then(() => {
		toast('It is sent again.');
		return box.reload();
	}, (error) => toast(error.message));
	const line = (one) => {
		const redeliver = rowButton('Redeliver', one.event, () => busy(redeliver, () => again(one)), '', { disabled: !isActive });
		return [h('div.who', h('strong', one.event), h('code', one.eventId)), h('div.badges', outcome(one)), String(one.attempts), moment(one.createdAt), redeliver];
	};
	const box = loading(() => all(`${path}/deliveries`, 'deliveries'), (list) => {
		const refresh = button('Refresh', () => busy(refresh, box.reload), { kind: 'small' });
		const shown = list.reverse().slice(0, SHOWN);
		return [
			h('div.toolbar', refresh, list.length > SHOWN && h('span.count-line', `The latest ${SHOWN} of ${list.length}`)),
			shown.length ? table('Deliveries', ['Event', 'Result', 'Attempts', 'Created', ''], shown.map(line)) : empty('webhooks', 'Nothing yet', 'What is sent to this endpoint appears here for 30 days.'),
		];
	});
	return box;
}

function rotate(path) {
	const overlap = overlapField('How long does the old secret still sign?', 'Meanwhile each notification carries both signatures.');
	ask({
		title: 'Rotate the signing secret', fields: [overlap], submit: 'Rotate secret',
		onsubmit: () => api('POST', `${path}/rotate-secret`, { overlapSeconds: Number(overlap.value) }),
		done: ({ secret }) => showSecret(secret),
	});
}
