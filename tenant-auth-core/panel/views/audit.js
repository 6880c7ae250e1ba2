// The audit log: what happened here, who did it and whom it was about, found by person, kind and time. Admins only.

import { badge, busy, button, device, download, empty, facts, field, fill, form, h, heading, listing, moment, open, page, put, rewrite, rowButton, t, toast } from '../kit.js';
import { groupName, KINDS } from '../kinds.js';

const AUTHORS = { user: t('panel.author.user'), api_key: t('panel.author.api_key'), deployment_key: t('panel.author.deployment_key'), system: t('panel.author.system') };
const KIND_OPTIONS = [['', t('panel.kinds.everything')], ...Object.entries(KINDS).flatMap(([group, kinds]) => [
	[`${group}.*`, t('panel.kinds.every', { group: groupName(group) })], ...kinds.split(' ').map((kind) => [`${group}.${kind}`, `${group}.${kind}`]),
])];

export function audit({ org, detail, query: wanted }) {
	// One page of them, for which no entry waits: names of others are shown by their ids.
	const people = page('/org/members', 'members', { limit: 1000 }).then(({ items }) => items, () => []);
	const names = people.then((items) => new Map(items.map((one) => [one.userId, one.name])));
	const list = h('div');
	const form = search(people, { person: detail, ...wanted }, (query) => fill(list, entries(names, query)), org);
	form.show();
	return [heading(t('panel.view.audit'), t('panel.audit.lead', { organization: org.name })), form, list];
}

// The choice of entries; `show` is given the parameters of the request.
function search(people, wanted, show, org) {
	const options = h('datalist', { id: 'people' });
	people.then((items) => put(options, items.map((one) => h('option', { value: one.email }, one.name))));
	const who = field({ label: t('panel.audit.person'), name: 'person', value: wanted.person ?? '', optional: true, list: 'people', autocomplete: 'off', placeholder: 'name@example.com', maxlength: 254 });
	const part = field({ label: t('panel.audit.part'), name: 'part', value: wanted.part ?? 'user', options: [['user', t('panel.audit.part.user')], ['actor', t('panel.audit.part.actor')]] });
	const kind = field({ label: t('panel.audit.kind'), name: 'kind', value: wanted.kind ?? '', options: KIND_OPTIONS, optional: true });
	const from = field({ label: t('panel.audit.from'), name: 'from', type: 'date', value: wanted.from ?? '', optional: true });
	const to = field({ label: t('panel.audit.to'), name: 'to', type: 'date', value: wanted.to ?? '', optional: true });
	const text = () => who.value.trim();
	// Of whoever has this address now. The API searches for no more than a hundred characters.
	const find = async (typed) => {
		const { items } = await page('/org/members', 'members', { query: { q: typed.slice(0, 100) }, limit: 1000 });
		return items.find((one) => one.email.toLowerCase() === typed.toLowerCase())?.userId;
	};
	// Whole days of the reader's zone, the last one included.
	const days = () => ({ ...(from.value && { from: new Date(`${from.value}T00:00`).toISOString() }), ...(to.value && { to: after(to.value) }) });
	const save = button(t('panel.audit.export'), () => {
		element.say.clear();
		const saved = () => download('/org/audit/export', days(), `audit-${org.slug}.ndjson`).then(() => toast(t('panel.audit.saved')));
		busy(save, () => saved().catch((error) => element.say.fail(error)));
	}, { title: t('panel.audit.export.title') });
	const element = form({
		fields: [who, part, kind, from, to, options], submit: t('panel.audit.show'), kind: '', extra: [save],
		keeps: false,
		onsubmit: () => look(true),
	});
	let turn = 0;
	const look = async (isAsked) => {
		const mine = (turn += 1);
		const chosen = Object.fromEntries([who, part, kind, from, to].map((one) => [one.input.name, one.value.trim()]));
		const query = { ...(kind.value && { kind: kind.value }), ...days() };
		const typed = text();
		const id = !typed || typed.startsWith('usr_') ? typed : await find(typed);
		if (mine !== turn) return; // something else was asked for meanwhile
		if (typed && !id) {
			who.fail(t('panel.audit.nobody'));
			return who.input.focus();
		}
		if (isAsked && !element.isConnected) return; // the view was left meanwhile
		if (isAsked) rewrite({ ...chosen, part: typed && chosen.part }, '#/audit');
		show({ ...(id && { [chosen.part]: id }), ...query });
	};
	element.classList.add('filters');
	return Object.assign(element, { show: () => look(false).catch(element.say.fail) });
}

function after(date) {
	const day = new Date(`${date}T00:00`);
	day.setDate(day.getDate() + 1);
	return day.toISOString();
}

function entries(names, query) {
	const name = (id) => {
		const element = h('bdi', id);
		names.then((known) => (element.textContent = known.get(id) ?? id));
		return element;
	};
	const author = (one) => (one.actor.name || one.actor.type !== 'user' ? h('bdi', one.actor.name ?? AUTHORS[one.actor.type]) : name(one.actor.id));
	return listing({
		path: '/org/audit', key: 'entries', noun: 'entries', query, columns: [t('panel.column.when'), t('panel.column.what'), t('panel.column.who'), t('panel.column.about'), ''],
		line: (one) => [
			moment(one.timestamp),
			h('code', one.type),
			author(one),
			one.user ? name(one.user) : '',
			rowButton(t('panel.details'), `${one.type} ${one.sequence}`, () => details(one, author(one), one.user && name(one.user))),
		],
		nothing: () => empty('audit', t('panel.list.nothing'), t('panel.audit.nothing')),
	});
}

function details(one, author, about) {
	const { ip, userAgent, sessionId } = one.context ?? {};
	open(one.type, () => [
		facts(
			[t('panel.column.when'), moment(one.timestamp)], [t('panel.column.who'), h('span', author, one.actor.id && h('code.break', ` ${one.actor.id}`))],
			...(about ? [[t('panel.column.about'), h('a', { href: `#/members/${one.user}` }, about, h('code.break', ` ${one.user}`))]] : []),
			...(ip ? [[t('panel.audit.address'), ip]] : []), ...(userAgent ? [[t('panel.column.device'), device(userAgent)]] : []), ...(sessionId ? [[t('panel.audit.session'), h('code.break', sessionId)]] : []),
			[t('panel.audit.number'), String(one.sequence)], [t('panel.audit.entry'), h('code.break', one.id)], [t('panel.audit.hash'), h('code.break', one.hash)]),
		one.erased ? h('p', badge(t('panel.audit.erased'), 'wait'), ` ${t('panel.audit.erased.text')}`) : [h('h3', t('panel.audit.data')), h('pre', { tabindex: '0', 'aria-label': t('panel.audit.data') }, JSON.stringify(one.data, null, 2))],
	], { wide: true });
}
