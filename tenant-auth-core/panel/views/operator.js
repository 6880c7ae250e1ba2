// All organizations of the deployment, for its operator.

import {
	addButton, api, appField, ask, badge, button, card, confirm, copyButton, day, emailField, empty, facts, field, h, heading, is, linkButton, listing, loading, moment, nameField, rowButton,
	said, slugField, statusBadge,
} from '../kit.js';

const LIST = '/admin/organizations';
const FILTERS = [['status', 'Status', [['', 'Every status'], ['active', 'Active'], ['suspended', 'Suspended']]]];

const trustBadge = (org) => !org.trusted && badge('Not trusted yet', 'wait');

export function operator() {
	const add = addButton('Create organization', () => create(list.reload));
	add.hidden = true;
	const list = listing({
		path: LIST, key: 'organizations', noun: 'organizations', columns: ['Organization', 'Plan', 'Status', 'Created', ''],
		search: true, filters: FILTERS,
		line: (org) => [
			h('div.who', h('strong', h('a', { href: `#/operator/${org.slug}`, 'aria-label': `Open ${org.name}` }, org.name)), h('code', org.slug)),
			badge(org.plan),
			org.deletesAt ? h('div', statusBadge(org), ' ', h('small', 'deleted on ', day(org.deletesAt))) : h('div.badges', statusBadge(org), trustBadge(org)),
			day(org.createdAt),
			h('div.buttons', rowButton('Edit', org.name, () => edit(org, list.reload)), rowButton('Invite admin', `of ${org.name}`, () => inviteAdmin(org)), turn(org, list.reload)),
		],
		loaded: () => (add.hidden = false),
		failed: refused,
		nothing: () => empty('operator', 'No organizations', 'The first one is created here.'),
	});
	return [
		heading('Organizations', 'Every organization of this deployment, for sign-ins with a second factor in the last 12 hours.', add),
		list,
	];
}

const refused = (error) => is(error, 'operator_required') && linkButton('Set up two-factor authentication', '#/security', 'primary');

// One of them, at an address of its own.
export function organization({ detail }) {
	const path = `${LIST}/${encodeURIComponent(detail)}`;
	const gone = (error) => (is(error, 'not_found', 'invalid_request') ? linkButton('All organizations', '#/operator') : refused(error));
	const box = loading(() => api('GET', path), (found) => whole(found, () => box.reload()), gone);
	return [h('p', h('a', { href: '#/operator' }, '← All organizations')), heading('Organization'), box];
}

const MADE_BY = { deployment_key: 'A deployment key', system: 'The service' };

function whole({ org, figures, createdBy: maker }, done) {
	const number = (count) => count.toLocaleString('en');
	const made = maker ? h('span', h('bdi', maker.name ?? MADE_BY[maker.type] ?? 'Somebody who is gone'), maker.id && h('code.break', ` ${maker.id}`)) : 'Nobody, or it is not known any more';
	return [
		card(org.name, null,
			facts(
				['Slug', h('code', org.slug)], ['Id', h('div.badges', h('code.break', org.id), copyButton(org.id, 'Copy the id'))], ['Plan', badge(org.plan)],
				['Status', h('div.badges', statusBadge(org), trustBadge(org))], ['Application', org.appUrl ?? '—'], ['Created', moment(org.createdAt)], ['Signed up by', made]),
			h('div.actions', button('Edit', () => edit(org, done)), button('Invite admin', () => inviteAdmin(org)), turn(org, done))),
		card('People', 'How many they are; who they are is shown to the organization’s own admins.',
			facts(['Members', number(figures.members)], ['Active admins', number(figures.activeAdmins)], ['Pending invites', `${number(figures.pendingInvites)}${figures.pendingInvites >= 1000 ? ' or more' : ''}`])),
		!org.trusted && card('Trust', 'It was made by sign-up, and may send 10 invites a day until you trust it.', h('div.actions', button('Trust', () => trust(org, done)))),
		org.deletesAt
			? card('Deletion', null, h('p.notice.bad', 'It is deleted with everything in it on ', moment(org.deletesAt), '. Until then it can be kept.'), h('div.actions', keep(org, done)))
			: card('Deletion', 'It is suspended at once, and deleted later with everything that belongs to it. Until then it can be kept.',
				h('div.actions', button('Delete organization', () => remove(org, done), { kind: 'danger-quiet' }))),
	];
}

const trust = (org, done) => confirm({
	title: said`Trust ${org.name}?`, action: 'Trust', kind: 'primary', text: 'It may send as many invites as any other organization. This cannot be taken back.', done,
	request: () => ['PATCH', at(org), { trusted: true }], run: () => api('PATCH', at(org), { trusted: true }).then(() => `${org.name} is trusted.`),
});

function remove(org, done) {
	const slug = field({ label: `Type “${org.slug}” to confirm`, name: 'confirm', autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false' });
	ask({
		title: said`Delete ${org.name}?`, text: 'Nobody can sign in to it from now on. Its admins are told by mail. Until it is deleted, it can be kept here.', fields: [slug], submit: 'Delete', kind: 'danger', done,
		check: () => slug.value.trim() !== org.slug && ['confirm', 'This is not its slug.'],
		request: () => ['DELETE', at(org)], onsubmit: () => api('DELETE', at(org)).then(({ org: now }) => (now.deletesAt ? `${org.name} is suspended and will be deleted.` : `${org.name} is deleted.`)),
	});
}

const at = (org) => `${LIST}/${org.slug}`;
const planField = (value = '') => field({ label: 'Plan', name: 'plan', value, pattern: '[a-z0-9_\\-]{1,32}', title: 'lower-case letters, digits, _ and -', optional: true, hint: 'Your own word, such as “pro”; “free” if left empty.' });

function create(done) {
	const [name, plan, app] = [nameField(), planField(), appField()];
	const slug = slugField({ label: 'Slug', name: 'slug', hint: 'Its short name for ever: lower-case letters, digits, hyphens.' });
	const email = emailField({ label: 'Email address of the first admin', name: 'adminEmail', hint: 'Gets an invite.' });
	ask({
		title: 'Create an organization', fields: [name, slug, email, plan, app], submit: 'Create organization', done,
		onsubmit: () => api('POST', LIST, { name: name.value, slug: slug.value, adminEmail: email.value, plan: plan.value || undefined, appUrl: app.value || undefined })
			.then(({ org, invite }) => `${org.name} was created; ${invite.email} is invited.`),
	});
}

function edit(org, done) {
	const [name, plan, app] = [nameField({ value: org.name }), planField(org.plan), appField(org.appUrl)];
	ask({
		title: said`Edit ${org.name}`, fields: [name, plan, app], submit: 'Save changes', done,
		onsubmit: () => api('PATCH', at(org), { name: name.value, plan: plan.value || 'free', appUrl: app.value || null }).then(() => 'The organization was saved.'),
	});
}

function keep(org, done) {
	const run = () => api('PATCH', at(org), { deletesAt: null }).then(() => `${org.name} will not be deleted.`);
	const text = 'It stays suspended, with everybody and everything in it, until it is reactivated.';
	return rowButton('Keep', org.name, () => confirm({ title: said`Keep ${org.name}?`, action: 'Keep', kind: 'primary', text, run, done }));
}

function turn(org, done) {
	if (org.deletesAt) return keep(org, done);
	const [action, status, kind, said, text] = org.status === 'active'
		? ['Suspend', 'suspended', 'danger', 'is suspended', 'Nobody can sign in to it, and none of its sessions is valid, until it is reactivated.']
		: ['Reactivate', 'active', 'primary', 'is active again', 'Its members can sign in again, and sessions that have not run out work again.'];
	const request = () => ['PATCH', at(org), { status }];
	const run = () => api(...request()).then(() => `${org.name} ${said}.`);
	return rowButton(action, org.name, () => confirm({ title: [`${action} `, h('bdi', org.name), '?'], action, kind, text, run, done, request }), kind === 'danger' ? 'danger-quiet' : '');
}

function inviteAdmin(org) {
	const email = emailField();
	ask({
		title: `Invite an admin of ${org.name}`, text: 'For an organization that nobody administers any more.', fields: [email], submit: 'Send invite',
		onsubmit: () => api('POST', `${at(org)}/invites`, { email: email.value }).then(({ invite }) => `${invite.email} is invited.`),
	});
}
