// All organizations of the deployment, for its operator.

import { addButton, api, appField, ask, badge, confirm, day, emailField, empty, field, h, heading, is, linkButton, listing, nameField, rowButton, slugField, statusBadge } from '../kit.js';

const LIST = '/admin/organizations';

export function operator() {
	const add = addButton('Create organization', () => create(list.reload));
	add.hidden = true;
	const list = listing({
		path: LIST, key: 'organizations', noun: 'organizations', columns: ['Organization', 'Plan', 'Status', 'Created', ''],
		search: (org) => `${org.name}\n${org.slug}`,
		line: (org) => [
			h('div.who', h('strong', org.name), h('code', org.slug)),
			badge(org.plan),
			org.deletesAt ? h('div', statusBadge(org), ' ', h('small', 'deleted on ', day(org.deletesAt))) : statusBadge(org),
			day(org.createdAt),
			h('div.buttons', rowButton('Edit', org.name, () => edit(org, list.reload)), rowButton('Invite admin', `of ${org.name}`, () => inviteAdmin(org)), turn(org, list.reload)),
		],
		loaded: () => (add.hidden = false),
		failed: (error) => is(error, 'operator_required') && linkButton('Set up two-factor authentication', '#/security', 'primary'),
		nothing: () => empty('operator', 'No organizations', 'The first one is created here.'),
	});
	return [
		heading('Organizations', 'Every organization of this deployment, for sign-ins with a second factor in the last 12 hours.', add),
		list,
	];
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
		title: `Edit ${org.name}`, fields: [name, plan, app], submit: 'Save changes', done,
		onsubmit: () => api('PATCH', at(org), { name: name.value, plan: plan.value || 'free', appUrl: app.value || null }).then(() => 'The organization was saved.'),
	});
}

function keep(org, done) {
	const run = () => api('PATCH', at(org), { deletesAt: null }).then(() => `${org.name} will not be deleted.`);
	const text = 'It stays suspended, with everybody and everything in it, until it is reactivated.';
	return rowButton('Keep', org.name, () => confirm({ title: `Keep ${org.name}?`, action: 'Keep', kind: 'primary', text, run, done }));
}

function turn(org, done) {
	if (org.deletesAt) return keep(org, done);
	const [action, status, kind, said, text] = org.status === 'active'
		? ['Suspend', 'suspended', 'danger', 'is suspended', 'Nobody can sign in to it, and none of its sessions is valid, until it is reactivated.']
		: ['Reactivate', 'active', 'primary', 'is active again', 'Its members can sign in again, and sessions that have not run out work again.'];
	const run = () => api('PATCH', at(org), { status }).then(() => `${org.name} ${said}.`);
	return rowButton(action, org.name, () => confirm({ title: `${action} ${org.name}?`, action, kind, text, run, done }), kind === 'danger' ? 'danger-quiet' : '');
}

function inviteAdmin(org) {
	const email = emailField();
	ask({
		title: `Invite an admin of ${org.name}`, text: 'For an organization that nobody administers any more.', fields: [email], submit: 'Send invite',
		onsubmit: () => api('POST', `${at(org)}/invites`, { email: email.value }).then(({ invite }) => `${invite.email} is invited.`),
	});
}
