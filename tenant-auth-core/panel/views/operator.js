// All organizations of the deployment, for its operator.

import {
	addButton, api, appField, ask, badge, button, card, changes, confirm, copyButton, day, emailField, empty, facts, field, h, heading, is, linkButton, listing, loading, moment, nameField, number, parts, rowButton,
	sentence, slugField, statusBadge, t,
} from '../kit.js';
import { figures } from './figures.js';

const LIST = '/admin/organizations';
const FILTERS = [['state', t('panel.column.status'), [['', t('panel.every_status')], ['active', t('panel.state.active')], ['suspended', t('panel.state.suspended')]]]];

const trustBadge = (org) => !org.trusted && badge(t('panel.operator.untrusted'), 'wait');

export function operator() {
	const add = addButton(t('panel.operator.create'), () => create(changed));
	add.hidden = true;
	const numbers = figures();
	const changed = () => {
		list.reload();
		numbers.reload();
	};
	const list = listing({
		path: LIST, key: 'organizations', noun: 'organizations', columns: [t('panel.view.organization'), t('panel.column.plan'), t('panel.column.status'), t('panel.column.created'), ''],
		search: 'search', filters: FILTERS,
		line: (org) => [
			h('div.who', h('strong', h('a', { href: `#/operator/${org.slug}`, 'aria-label': t('panel.operator.open', { name: org.name }) }, h('bdi', org.name))), h('code', org.slug)),
			badge(org.plan),
			org.deletesAt ? h('div', statusBadge(org), ' ', h('small', parts('panel.operator.deleted_on', { day: day(org.deletesAt) }))) : h('div.badges', statusBadge(org), trustBadge(org)),
			day(org.createdAt),
			h('div.buttons', rowButton(t('panel.edit'), org.name, () => edit(org, changed)), rowButton(t('panel.operator.invite_admin'), t('panel.operator.of', { organization: org.name }), () => inviteAdmin(org)), turn(org, changed)),
		],
		loaded: () => {
			add.hidden = false;
			numbers.reload();
		},
		failed: refused,
		nothing: () => empty('operator', t('panel.operator.none.title'), t('panel.operator.none.text')),
	});
	return [
		heading(t('panel.view.organizations'), t('panel.operator.lead'), add),
		numbers,
		list,
	];
}

const refused = (error) => is(error, 'operator_required') && linkButton(t('panel.operator.set_up'), '#/security', 'primary');

// One of them, at an address of its own.
export function organization({ detail }) {
	const path = `${LIST}/${encodeURIComponent(detail)}`;
	const gone = (error) => (is(error, 'not_found', 'invalid_request') ? linkButton(t('panel.operator.all'), '#/operator') : refused(error));
	const box = loading(() => api('GET', path), (found) => whole(found, () => box.reload()), gone);
	return [h('p', h('a', { href: '#/operator' }, t('panel.operator.all_back'))), heading(t('panel.view.organization')), box];
}

const MADE_BY = { deployment_key: t('panel.author.deployment_key'), system: t('panel.author.system') };

function whole({ org, figures, createdBy: maker }, done) {
	const made = maker ? h('span', h('bdi', maker.name ?? MADE_BY[maker.type] ?? t('panel.operator.gone')), maker.id && h('code.break', ` ${maker.id}`)) : t('panel.operator.nobody');
	return [
		card(h('bdi', org.name), null,
			facts(
				[t('panel.column.slug'), h('code', org.slug)], [t('panel.column.id'), h('div.badges', h('code.break', org.id), copyButton(org.id, t('panel.copy_id')))], [t('panel.column.plan'), badge(org.plan)],
				[t('panel.column.status'), h('div.badges', statusBadge(org), trustBadge(org))], [t('panel.column.application'), org.appUrl ?? '—'], [t('panel.column.created'), moment(org.createdAt)], [t('panel.operator.maker'), made]),
			h('div.actions', button(t('panel.edit'), () => edit(org, done)), button(t('panel.operator.invite_admin'), () => inviteAdmin(org)), turn(org, done))),
		card(t('panel.operator.people'), t('panel.operator.people.text'),
			facts([t('panel.view.members'), number(figures.members)], [t('panel.operator.admins'), number(figures.activeAdmins)], [t('panel.operator.pending'), figures.pendingInvites >= 1000 ? t('panel.operator.or_more', { count: number(figures.pendingInvites) }) : number(figures.pendingInvites)])),
		!org.trusted && card(t('panel.operator.trust'), t('panel.operator.trust.card'), h('div.actions', button(t('panel.operator.trust'), () => trust(org, done)))),
		org.deletesAt
			? card(t('panel.operator.deletion'), null, h('p.notice.bad', parts('panel.operator.deletion.at', { moment: moment(org.deletesAt) })), h('div.actions', keep(org, done)))
			: card(t('panel.operator.deletion'), t('panel.operator.deletion.text'),
				h('div.actions', button(t('panel.operator.delete'), () => remove(org, done), { kind: 'danger-quiet' }))),
	];
}

const trust = (org, done) => confirm({
	title: sentence('panel.operator.trust.title', { organization: org.name }), action: t('panel.operator.trust'), kind: 'primary', text: t('panel.operator.trust.text'), done,
	request: () => ['PATCH', at(org), { trusted: true }], run: () => api('PATCH', at(org), { trusted: true }).then(() => t('panel.operator.trusted', { organization: org.name })),
});

function remove(org, done) {
	const slug = field({ label: t('panel.operator.delete.confirm', { slug: org.slug }), name: 'confirm', autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false' });
	ask({
		title: sentence('panel.operator.delete.title', { organization: org.name }), text: t('panel.operator.delete.text'), fields: [slug], submit: t('panel.delete'), kind: 'danger', done,
		check: () => slug.value.trim() !== org.slug && ['confirm', t('panel.operator.delete.wrong')],
		request: () => ['DELETE', at(org)], onsubmit: () => api('DELETE', at(org)).then(({ org: now }) => t(Date.parse(now.deletesAt) > Date.now() ? 'panel.operator.delete.later' : 'panel.operator.delete.done', { organization: org.name })),
	});
}

const at = (org) => `${LIST}/${org.slug}`;
const planField = (value = '') => field({ label: t('panel.column.plan'), name: 'plan', value, pattern: '[a-z0-9_\\-]{1,32}', title: t('panel.operator.plan.form'), optional: true, hint: t('panel.operator.plan.hint') });

function create(done) {
	const [name, plan, app] = [nameField(), planField(), appField()];
	const slug = slugField({ label: t('panel.column.slug'), name: 'slug', hint: t('panel.operator.slug.hint') });
	const email = emailField({ label: t('panel.operator.first'), name: 'adminEmail', hint: t('panel.operator.first.hint') });
	ask({
		title: t('panel.operator.create.title'), fields: [name, slug, email, plan, app], submit: t('panel.operator.create'), done,
		onsubmit: () => api('POST', LIST, { name: name.value, slug: slug.value, adminEmail: email.value, plan: plan.value || undefined, appUrl: app.value || undefined })
			.then(({ org, invite }) => t('panel.operator.created', { organization: org.name, email: invite.email })),
	});
}

function edit(org, done) {
	const [name, plan, app] = [nameField({ value: org.name }), planField(org.plan), appField(org.appUrl)];
	const read = () => ({ name: name.value, plan: plan.value || 'free', appUrl: app.value || null });
	const before = read();
	ask({
		title: sentence('panel.operator.edit.title', { organization: org.name }), fields: [name, plan, app], submit: t('panel.save_changes'), done,
		onsubmit: () => api('PATCH', at(org), changes(before, read())).then(() => t('panel.operator.saved')),
	});
}

function keep(org, done) {
	const run = () => api('PATCH', at(org), { deletesAt: null }).then(() => t('panel.operator.kept', { organization: org.name }));
	const text = t('panel.operator.keep.text');
	return rowButton(t('panel.operator.keep'), org.name, () => confirm({ title: sentence('panel.operator.keep.title', { organization: org.name }), action: t('panel.operator.keep'), kind: 'primary', text, run, done }));
}

function turn(org, done) {
	if (org.deletesAt) return keep(org, done);
	const named = { organization: org.name };
	const isActive = org.status === 'active';
	const [action, status, kind, title, text, said] = isActive
		? [t('panel.suspend'), 'suspended', 'danger', sentence('panel.operator.suspend.title', named), t('panel.operator.suspend.text'), t('panel.operator.suspended', named)]
		: [t('panel.reactivate'), 'active', 'primary', sentence('panel.operator.reactivate.title', named), t('panel.operator.reactivate.text'), t('panel.operator.active', named)];
	const request = () => ['PATCH', at(org), { status }];
	const run = () => api(...request()).then(() => said);
	return rowButton(action, org.name, () => confirm({ title, action, kind, text, run, done, request }), kind === 'danger' ? 'danger-quiet' : '');
}

function inviteAdmin(org) {
	const email = emailField();
	ask({
		title: t('panel.operator.invite.title', { organization: org.name }), text: t('panel.operator.invite.text'), fields: [email], submit: t('panel.invites.send'),
		onsubmit: () => api('POST', `${at(org)}/invites`, { email: email.value }).then(({ invite }) => t('panel.invites.sent', { email: invite.email })),
	});
}
