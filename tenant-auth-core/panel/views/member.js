// One member, in a dialog. Metadata is judged by the API's rules and sent as typed.

import { api, button, confirm, facts, field, form, h, moment, open, roleBadge, roleField, statusBadge, toast } from '../kit.js';
import { compact, metadataProblem, pretty } from '../json.js';

// Opens the dialog; `changed` reloads the list behind it.
export function openMember(context, member, changed) {
	const path = `/org/members/${member.userId}`;
	const isSelf = member.userId === context.user.id;
	open(member.name, (dialog) => {
		const done = (text) => {
			dialog.close();
			if (text) toast(text);
			changed();
		};
		const summary = facts(['Email', member.email], ['Role', roleBadge(member)], ['Status', statusBadge(member)], ['Joined', moment(member.joinedAt)], ['Id', h('code', member.userId)]);
		if (!context.isAdmin) return [summary, h('h3', 'Metadata'), h('pre', { tabindex: '0', 'aria-label': 'Metadata' }, pretty(member.metadata))];
		return [
			summary,
			h('p', h('a', { href: `#/audit/${member.userId}` }, 'What happened to this member')),
			role(member, path, isSelf ? context.refresh : done),
			metadata(member, path, done),
			isSelf
				? h('p.part.hint', 'You cannot suspend or remove yourself. To leave the organization, see its settings.')
				: h('section.part', h('h3', 'Access'), h('div.actions', access(context.org.name, member, path, () => done()))),
		];
	}, { wide: true });
}

function role(member, path, done) {
	const select = roleField(member.role);
	return h('section.part', form({
		fields: [select], submit: 'Save role', kind: '',
		onsubmit: async () => {
			await api('PUT', `${path}/role`, { role: select.value });
			done(`${member.name} is ${select.value === 'org_admin' ? 'an admin' : 'a member'} now.`);
		},
	}));
}

function metadata(member, path, done) {
	const text = field({
		label: 'Metadata', name: 'metadata', type: 'textarea', rows: 8, class: 'code', value: pretty(member.metadata),
		hint: 'A JSON object that your application reads. Saving replaces all of it.',
	});
	text.input.addEventListener('input', () => text.fail(metadataProblem(text.value)));
	return h('section.part', form({
		fields: [text], submit: 'Save metadata', kind: '',
		check() {
			const problem = metadataProblem(text.value);
			return problem && ['metadata', problem];
		},
		onsubmit: async () => {
			await api('PATCH', path, undefined, { text: `{"metadata":${compact(text.value)}}` });
			done('The metadata was saved.');
		},
	}));
}

function access(org, { name, status }, path, done) {
	const change = (to, said) => () => api('PUT', `${path}/status`, { status: to }).then(() => said);
	const suspend = () => confirm({
		title: `Suspend ${name}?`, action: 'Suspend', done, run: change('suspended', `${name} is suspended.`),
		text: `${name} is refused everywhere in ${org} at once, until somebody reactivates them. Nothing is deleted.`,
	});
	const reactivate = () => confirm({
		title: `Reactivate ${name}?`, action: 'Reactivate', kind: 'primary', done, run: change('active', `${name} is active again.`),
		text: `${name} can sign in to ${org} again.`,
	});
	const end = () => confirm({
		title: `Sign ${name} out?`, action: 'End sessions', run: () => api('DELETE', `${path}/sessions`), done,
		text: `Every session of ${name} in ${org} ends at once. They can sign in again.`,
	});
	const remove = () => confirm({
		title: `Remove ${name}?`, action: 'Remove', run: () => api('DELETE', path), done,
		text: `${name} loses access to ${org} at once, and the metadata kept here is deleted. The account itself stays.`,
	});
	return [
		button('End sessions', end),
		status === 'active' ? button('Suspend', suspend, { kind: 'danger-quiet' }) : button('Reactivate', reactivate),
		button('Remove', remove, { kind: 'danger-quiet' }),
	];
}
