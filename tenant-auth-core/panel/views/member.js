// One member, in a dialog that has an address. Metadata is judged by the API's rules and sent as typed.

import { api, button, confirm, copyButton, discard, facts, field, form, h, moment, open, place, question, rewrite, roleBadge, roleField, said, statusBadge, toast, whenSettled } from '../kit.js';
import { compact, metadataProblem, pretty } from '../json.js';
import { activityOf, sessionsOf } from './member-doings.js';

// Opens the dialog; `changed` reloads the list behind it.
export function openMember(context, member, changed) {
	const path = `/org/members/${member.userId}`;
	const isSelf = member.userId === context.user.id;
	// Back leaves the dialog, so the entry before it must not lead to it again.
	const stand = (address) => rewrite(place().query, address);
	stand('#/members');
	const onclose = () => whenSettled(() => place().view === 'members' && place().detail === member.userId && stand('#/members'));
	open(member.name, (dialog) => {
		const done = (text) => {
			dialog.close();
			if (text) toast(text);
			changed();
			if (isSelf) context.refresh();
		};
		const summary = facts(['Email', member.email], ['Role', roleBadge(member)], ['Status', statusBadge(member)], ['Joined', moment(member.joinedAt)], ['Id', h('div.badges', h('code.break', member.userId), copyButton(member.userId, 'Copy the id'))]);
		if (!context.isAdmin) return [summary, h('h3', 'Metadata'), h('pre', { tabindex: '0', 'aria-label': 'Metadata' }, pretty(member.metadata))];
		return [
			summary,
			h('section.part', edit({ ...member }, path, isSelf, done)),
			isSelf
				? h('p.part.hint', 'You cannot suspend or remove yourself. To leave the organization, see its settings.')
				: h('section.part', h('h3', 'Access'), h('div.actions', access(context.org.name, member, path, (isGone) => {
					changed();
					if (isGone) discard(dialog);
					dialog.leave();
				}))),
			h('section.part', h('h3', 'Sessions'), sessionsOf(member, path)),
			h('section.part', h('h3', 'Latest activity'), activityOf(member)),
		];
	}, { wide: true, onclose });
	stand(`#/members/${member.userId}`);
}

// Role and metadata are one form, so that saving the one cannot lose the other.
function edit(member, path, isSelf, done) {
	const role = roleField(member.role);
	const metadata = field({
		label: 'Metadata', name: 'metadata', type: 'textarea', rows: 8, class: 'code', value: pretty(member.metadata),
		hint: 'A JSON object that your application reads. Saving replaces all of it.',
	});
	metadata.input.addEventListener('input', () => metadata.fail(metadataProblem(metadata.value)));
	const save = async () => {
		const said = [];
		const [text, wanted] = [compact(metadata.value), role.value];
		// What is saved already is not sent again when the other is refused.
		if (text !== compact(member.metadata)) {
			await api('PATCH', path, undefined, { text: `{"metadata":${text}}` });
			member.metadata = text;
			said.push('The metadata was saved.');
		}
		if (wanted !== member.role) {
			await api('PUT', `${path}/role`, { role: wanted });
			member.role = wanted;
			said.push(isSelf ? `You are ${wanted === 'org_admin' ? 'an admin' : 'a member'} now.` : `${member.name} is ${wanted === 'org_admin' ? 'an admin' : 'a member'} now.`);
		}
		done(said.join(' ') || 'Nothing was changed.');
	};
	return form({
		fields: [role, metadata], submit: 'Save changes', kind: '',
		check() {
			const problem = metadataProblem(metadata.value);
			return problem && ['metadata', problem];
		},
		before: () => !isSelf || member.role !== 'org_admin' || role.value === 'org_admin' || stepDown(),
		onsubmit: save,
	});
}

// Whether somebody means it who cannot undo it.
const stepDown = () => new Promise((answer) => {
	question({
		title: 'Stop being an admin?', text: 'You will no longer manage members, keys, webhooks and settings. Only another admin can make you one again.',
		actions: (dialog) => {
			dialog.addEventListener('close', () => answer(dialog.returnValue === 'yes'));
			return button('Stop being an admin', () => dialog.close('yes'), { kind: 'danger' });
		},
	});
});

function access(org, { name, status }, path, done) {
	const change = (to, said) => () => api('PUT', `${path}/status`, { status: to }).then(() => said);
	const suspend = () => confirm({
		title: said`Suspend ${name}?`, action: 'Suspend', done, run: change('suspended', `${name} is suspended.`), request: () => ['PUT', `${path}/status`, { status: 'suspended' }],
		text: said`${name} is refused everywhere in ${org} at once, until somebody reactivates them. Nothing is deleted.`,
	});
	const reactivate = () => confirm({
		title: said`Reactivate ${name}?`, action: 'Reactivate', kind: 'primary', done, run: change('active', `${name} is active again.`), request: () => ['PUT', `${path}/status`, { status: 'active' }],
		text: said`${name} can sign in to ${org} again.`,
	});
	const end = () => confirm({
		title: said`Sign ${name} out?`, action: 'End sessions', run: () => api('DELETE', `${path}/sessions`), done, request: () => ['DELETE', `${path}/sessions`],
		text: said`Every session of ${name} in ${org} ends at once. They can sign in again.`,
	});
	const remove = () => confirm({
		title: said`Remove ${name}?`, action: 'Remove', run: () => api('DELETE', path), done: () => done(true), request: () => ['DELETE', path],
		text: said`${name} loses access to ${org} at once, and the metadata kept here is deleted. The account itself stays.`,
	});
	return [
		button('End sessions', end),
		status === 'active' ? button('Suspend', suspend, { kind: 'danger-quiet' }) : button('Reactivate', reactivate),
		button('Remove', remove, { kind: 'danger-quiet' }),
	];
}
