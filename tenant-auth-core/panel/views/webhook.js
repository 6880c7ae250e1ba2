// One webhook: its settings, a test, its deliveries.

import { api, ask, askOverlap, badge, busy, button, card, changes, confirm, facts, h, heading, is, linkButton, live, loading, moment, notice, statusBadge, t } from '../kit.js';
import { kindName } from '../kinds.js';
import { deliveries, outcome } from './deliveries.js';
import { showSigningSecret, webhookFields } from './webhooks.js';

// A test is watched by so many looks, so many milliseconds apart.
const LOOKS = [40, 500];

export function webhook({ detail }) {
	const path = `/org/webhooks/${encodeURIComponent(detail)}`;
	const box = loading(() => api('GET', path), ({ webhook: one }) => whole(path, one, box.reload), gone);
	return [h('p', h('a', { href: '#/webhooks' }, t('panel.webhook.all_back'))), heading(t('panel.webhook.title')), box];
}

// An address of yesterday, or of another organization.
const gone = (error) => is(error, 'not_found', 'invalid_request') && linkButton(t('panel.webhook.all'), '#/webhooks');

function whole(path, one, reload) {
	const isActive = one.status === 'active';
	const list = deliveries(path, isActive);
	const patch = (body, said) => api('PATCH', path, body).then(() => said);
	const [action, status, kind, title, text, said] = isActive
		? [t('panel.webhook.disable'), 'disabled', 'danger', t('panel.webhook.disable.title'), t('panel.webhook.disable.text'), t('panel.webhook.disabled')]
		: [t('panel.webhook.enable'), 'active', 'primary', t('panel.webhook.enable.title'), t('panel.webhook.enable.text'), t('panel.webhook.active')];
	const turn = () => confirm({ title, action, kind, text, run: () => patch({ status }, said), done: reload, request: () => ['PATCH', path, { status }] });
	const remove = () => confirm({
		title: t('panel.webhook.delete.title'), action: t('panel.delete'), text: t('panel.webhook.delete.text'), run: () => api('DELETE', path).then(() => t('panel.webhook.deleted')), request: () => ['DELETE', path],
		done: () => location.hash.includes(one.id) && (location.hash = '#/webhooks'),
	});
	const rotate = () => askOverlap(`${path}/rotate-secret`, {
		title: t('panel.webhook.rotate.title'), text: t('panel.webhook.rotate.text'), submit: t('panel.webhook.rotate'), done: ({ secret }) => showSigningSecret(secret),
	});
	const edit = () => {
		const { fields, check, read } = webhookFields(one);
		const before = read();
		const changed = () => changes(before, read());
		ask({ title: t('panel.webhook.edit.title'), wide: true, fields, check, submit: t('panel.webhook.save'), request: () => ['PATCH', path, changed()], onsubmit: () => patch(changed(), t('panel.webhook.saved')), done: reload });
	};
	return [
		card(one.url, one.description,
			facts([t('panel.column.status'), statusBadge(one)], [t('panel.column.events'), h('div.badges', one.events.map((kind) => badge(kindName(kind))))], [t('panel.column.created'), moment(one.createdAt)], [t('panel.column.id'), h('code', one.id)]),
			h('div.actions', button(t('panel.edit'), edit), button(t('panel.webhook.rotate'), rotate),
				button(action, turn, { kind: isActive ? 'danger-quiet' : '' }), button(t('panel.delete'), remove, { kind: 'danger-quiet' }))),
		test(path, isActive, list.reload),
		card(t('panel.webhook.deliveries'), t('panel.webhook.deliveries.text'), list),
	];
}

function test(path, isActive, done) {
	const say = notice();
	const [here, result] = [h('span.faint', t('panel.webhook.test.here')), live('status', '.actions')];
	const run = async () => {
		say.clear();
		here.remove();
		result.say(badge(t('panel.webhook.test.sending'), 'wait'), t('panel.webhook.test.waiting'));
		try {
			const { delivery } = await api('POST', `${path}/test`);
			result.say(outcome(await watch(path, delivery.id)));
			done();
		} catch (error) {
			result.clear();
			say.fail(error);
		}
	};
	const send = button(t('panel.webhook.test.send'), () => busy(send, run), { kind: 'primary', disabled: !isActive });
	return card(t('panel.webhook.test'), t('panel.webhook.test.text', { event: 'webhook.test' }), say, h('div.actions', send, here, result));
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
