// API keys of the organization's backends. A key is shown once; afterwards only its ends.

import { addButton, ago, api, ask, askOverlap, badge, button, checkbox, choices, confirm, day, empty, field, h, heading, is, listing, nameField, parts, rowButton, showOnce, t } from '../kit.js';

const SCOPES = [
	['verify', t('panel.keys.scope.verify'), true],
	['users:read', t('panel.keys.scope.users'), true],
	['members:read', t('panel.keys.scope.members'), true],
	['events:read', t('panel.keys.scope.events'), false],
];
const DAY = 86_400_000;

export function keys({ org }) {
	const add = () => create((made) => (list.reload(), show(made)));
	const revoke = (key) => confirm({
		title: t('panel.keys.revoke.title', { name: key.name }), action: t('panel.revoke'), run: () => api('DELETE', `/org/api-keys/${key.id}`).then(() => t('panel.keys.revoked')), done: list.reload, request: () => ['DELETE', `/org/api-keys/${key.id}`],
		text: t('panel.keys.revoke.text'),
	});
	const by = makers();
	const never = () => h('span.faint', t('panel.never'));
	const list = listing({
		path: '/org/api-keys', key: 'apiKeys', noun: 'keys', columns: [t('panel.column.key'), t('panel.column.scopes'), t('panel.column.created'), t('panel.column.by'), t('panel.column.last_used'), t('panel.column.expires'), ''],
		search: 'search', prepare: markOlder,
		line: (key) => [
			h('div.who', h('strong', h('bdi', key.name), ' ', key.isOlder && badge(t('panel.keys.older'), 'wait')), h('code', `${key.prefix}…${key.lastFour}`)),
			h('div.badges', key.scopes.map((scope) => badge(scope))),
			day(key.createdAt),
			by(key.createdBy),
			key.lastUsedAt ? ago(key.lastUsedAt) : never(),
			key.expiresAt ? ago(key.expiresAt) : never(),
			h('div.buttons', rowButton(t('panel.keys.rotate'), `${key.name} …${key.lastFour}`, () => rotate(key, (made) => (list.reload(), show(made)))), rowButton(t('panel.revoke'), `${key.name} …${key.lastFour}`, () => revoke(key), 'danger-quiet')),
		],
		nothing: () => empty('api-keys', t('panel.keys.none.title'), t('panel.keys.none.text'), button(t('panel.keys.create_one'), add)),
	});
	return [heading(t('panel.view.keys'), t('panel.keys.lead', { slug: org.slug }), addButton(t('panel.keys.create'), add)), list];
}

// Who made something: a member's name comes a moment later, each asked for once.
function makers() {
	const names = new Map();
	return (id) => {
		if (!id) return t('panel.view.operator');
		if (!names.has(id)) names.set(id, api('GET', `/org/members/${id}`).then(({ member }) => member.name, (error) => (is(error, 'not_found') ? t('panel.keys.former') : id)));
		const link = h('a.break', { href: `#/members/${id}` }, '…');
		names.get(id).then((name) => (link.textContent = name));
		return h('bdi', link);
	};
}

// After a rotation there are two of one name for a while; the one made first goes.
function markOlder(list) {
	const latest = new Map();
	for (const { name, createdAt } of list) if (!(latest.get(name) > createdAt)) latest.set(name, createdAt);
	return list.map((key) => ({ ...key, isOlder: latest.get(key.name) > key.createdAt && key.expiresAt !== null }));
}

function create(done) {
	const name = nameField({ hint: t('panel.keys.name_hint') });
	const scopes = SCOPES.map(([value, label, checked]) => checkbox('scopes', value, label, checked, value));
	const group = choices(t('panel.column.scopes'), scopes);
	const expires = field({ label: t('panel.column.expires'), name: 'expiresAt', options: [['', t('panel.never')], [30, t('panel.keys.days_30')], [90, t('panel.keys.days_90')], [365, t('panel.keys.year')]], optional: true });
	const wanted = () => ['POST', '/org/api-keys', {
		name: name.value,
		scopes: group.picked(),
		...(expires.value && { expiresAt: new Date(Date.now() + expires.value * DAY).toISOString() }),
	}];
	ask({
		title: t('panel.keys.create.title'), fields: [name, group, expires], submit: t('panel.keys.create'), done,
		check: () => !group.picked().length && ['scopes', t('panel.choose_one')],
		request: wanted, onsubmit: () => api(...wanted()),
	});
}

const rotate = (key, done) => askOverlap(`/org/api-keys/${key.id}/rotate`, {
	title: t('panel.keys.rotate.title', { name: key.name }), text: t('panel.keys.rotate.text'), submit: t('panel.keys.rotate.action'), done,
});

const show = ({ apiKey, key }) => showOnce({
	title: t('panel.keys.new.title'), label: t('panel.keys.new.label', { name: apiKey.name }), secret: key,
	text: [parts('panel.keys.new.text', { header: h('code', 'X-API-Key') }), apiKey.expiresAt && [' ', parts('panel.keys.new.until', { day: day(apiKey.expiresAt) })]],
});
