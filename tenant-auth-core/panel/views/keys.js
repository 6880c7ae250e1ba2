// API keys of the organization's backends. A key is shown once; afterwards only its ends.

import { addButton, ago, api, ask, askOverlap, badge, button, checkbox, choices, confirm, day, empty, field, h, heading, is, listing, nameField, rowButton, showOnce } from '../kit.js';

const SCOPES = [
	['verify', 'Verify access tokens', true],
	['users:read', 'Read users', true],
	['members:read', 'Read members', true],
	['events:read', 'Read events', false],
];
const DAY = 86_400_000;

export function keys({ org }) {
	const add = () => create((made) => (list.reload(), show(made)));
	const revoke = (key) => confirm({
		title: `Revoke “${key.name}”?`, action: 'Revoke', run: () => api('DELETE', `/org/api-keys/${key.id}`), done: list.reload, request: () => ['DELETE', `/org/api-keys/${key.id}`],
		text: 'Every request with this key is refused at once. This cannot be undone.',
	});
	const by = makers();
	const never = () => h('span.faint', 'Never');
	const list = listing({
		path: '/org/api-keys', key: 'apiKeys', noun: 'API keys', columns: ['Key', 'Scopes', 'Created', 'By', 'Last used', 'Expires', ''],
		search: true, prepare: markOlder,
		line: (key) => [
			h('div.who', h('strong', key.name, ' ', key.isOlder && badge('Older', 'wait')), h('code', `${key.prefix}…${key.lastFour}`)),
			h('div.badges', key.scopes.map((scope) => badge(scope))),
			day(key.createdAt),
			by(key.createdBy),
			key.lastUsedAt ? ago(key.lastUsedAt) : never(),
			key.expiresAt ? ago(key.expiresAt) : never(),
			h('div.buttons', rowButton('Rotate', `${key.name} …${key.lastFour}`, () => rotate(key, (made) => (list.reload(), show(made)))), rowButton('Revoke', `${key.name} …${key.lastFour}`, () => revoke(key), 'danger-quiet')),
		],
		nothing: () => empty('api-keys', 'No API keys', 'A backend needs one to verify who its users are.', button('Create a key', add)),
	});
	return [heading('API keys', `Your backends use them, with the slug “${org.slug}”. They must never reach a browser.`, addButton('Create key', add)), list];
}

// Who made something: a member's name comes a moment later, each asked for once.
function makers() {
	const names = new Map();
	return (id) => {
		if (!id) return 'Operator';
		if (!names.has(id)) names.set(id, api('GET', `/org/members/${id}`).then(({ member }) => member.name, (error) => (is(error, 'not_found') ? 'A former member' : id)));
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
	const name = nameField({ hint: 'What will use it, such as “billing service”.' });
	const scopes = SCOPES.map(([value, label, checked]) => checkbox('scopes', value, label, checked, value));
	const group = choices('Scopes', scopes);
	const expires = field({ label: 'Expires', name: 'expiresAt', options: [['', 'Never'], [30, 'In 30 days'], [90, 'In 90 days'], [365, 'In a year']], optional: true });
	const wanted = () => ['POST', '/org/api-keys', {
		name: name.value,
		scopes: group.picked(),
		...(expires.value && { expiresAt: new Date(Date.now() + expires.value * DAY).toISOString() }),
	}];
	ask({
		title: 'Create an API key', fields: [name, group, expires], submit: 'Create key', done,
		check: () => !group.picked().length && ['scopes', 'Choose at least one.'],
		request: wanted, onsubmit: () => api(...wanted()),
	});
}

const rotate = (key, done) => askOverlap(`/org/api-keys/${key.id}/rotate`, {
	title: `Rotate “${key.name}”`, text: 'A new key takes its place, with the same name and scopes.', submit: 'Rotate key', done,
});

const show = ({ apiKey, key }) => showOnce({
	title: 'Your new API key', label: `API key “${apiKey.name}”`, secret: key,
	text: ['Send it in the header ', h('code', 'X-API-Key'), '.', apiKey.expiresAt && [' It expires on ', day(apiKey.expiresAt), '.']],
});
