// One webhook: its settings, a test, its deliveries.

import { api, ask, askOverlap, badge, busy, button, card, confirm, facts, fill, h, heading, is, linkButton, loading, moment, notice, statusBadge } from '../kit.js';
import { kindName } from '../kinds.js';
import { deliveries, outcome } from './deliveries.js';
import { showSigningSecret, webhookFields } from './webhooks.js';

// A test is watched by so many looks, so many milliseconds apart.
const LOOKS = [40, 500];

export function webhook({ detail }) {
	const path = `/org/webhooks/${encodeURIComponent(detail)}`;
	const box = loading(() => api('GET', path), ({ webhook: one }) => whole(path, one, box.reload), gone);
	return [h('p', h('a', { href: '#/webhooks' }, '← All webhooks')), heading('Webhook'), box];
}

// An address of yesterday, or of another organization.
const gone = (error) => is(error, 'not_found', 'invalid_request') && linkButton('All webhooks', '#/webhooks');

function whole(path, one, reload) {
	const isActive = one.status === 'active';
	const list = deliveries(path, isActive);
	const patch = (body, said) => api('PATCH', path, body).then(() => said);
	const [action, status, kind, text] = isActive ? ['Disable', 'disabled', 'danger', 'Nothing more is sent to it, and what is pending is cancelled.'] : ['Enable', 'active', 'primary', 'What happens from now on is sent to it again.'];
	const turn = () => confirm({ title: `${action} this webhook?`, action, kind, text, run: () => patch({ status }, `The webhook is ${status}.`), done: reload, request: () => ['PATCH', path, { status }] });
	const remove = () => confirm({
		title: 'Delete this webhook?', action: 'Delete', text: 'Its deliveries and its secret are deleted. This cannot be undone.', run: () => api('DELETE', path), request: () => ['DELETE', path],
		done: () => location.hash.includes(one.id) && (location.hash = '#/webhooks'),
	});
	const rotate = () => askOverlap(`${path}/rotate-secret`, {
		title: 'Rotate the signing secret', text: 'For a while each notification can carry both signatures.', submit: 'Rotate secret', done: ({ secret }) => showSigningSecret(secret),
	});
	const edit = () => {
		const { fields, check, read } = webhookFields(one);
		ask({ title: 'Edit webhook', wide: true, fields, check, submit: 'Save webhook', request: () => ['PATCH', path, read()], onsubmit: () => patch(read(), 'The webhook was saved.'), done: reload });
	};
	return [
		card(one.url, one.description,
			facts(['Status', statusBadge(one)], ['Events', h('div.badges', one.events.map((kind) => badge(kindName(kind))))], ['Created', moment(one.createdAt)], ['Id', h('code', one.id)]),
			h('div.actions', button('Edit', edit), button('Rotate secret', rotate),
				button(action, turn, { kind: isActive ? 'danger-quiet' : '' }), button('Delete', remove, { kind: 'danger-quiet' }))),
		test(path, isActive, list.reload),
		card('Deliveries', 'The latest first. What fails is tried again for some days.', list),
	];
}

function test(path, isActive, done) {
	const say = notice();
	const result = h('div.actions', { role: 'status' }, h('span.faint', 'The result appears here.'));
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
		const { delivery } = await api('GET', `${path}/deliveries/${id}`);
		if (delivery.status !== 'pending' || delivery.lastError) return delivery;
		await new Promise((resolve) => setTimeout(resolve, pause));
	}
	return { status: 'pending', attempts: 0 };
}
