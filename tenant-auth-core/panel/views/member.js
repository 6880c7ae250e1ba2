// One member, in a dialog that has an address. Metadata is judged by the API's rules and sent as typed.

import { api, button, confirm, copyButton, discard, facts, field, form, h, moment, open, place, question, rewrite, roleBadge, roleField, sentence, statusBadge, t, toast, whenSettled } from '../kit.js';
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
	open(h('bdi', member.name), (dialog) => {
		const done = (text) => {
			dialog.close();
			if (text) toast(text);
			changed();
			if (isSelf) context.refresh();
		};
		const summary = facts([t('panel.column.email'), member.email], [t('panel.role'), roleBadge(member)], [t('panel.column.status'), statusBadge(member)], [t('panel.column.joined'), moment(member.joinedAt)], [t('panel.column.id'), h('div.badges', h('code.break', member.userId), copyButton(member.userId, t('panel.copy_id')))]);
		if (!context.isAdmin) return [summary, h('h3', t('panel.member.metadata')), h('pre', { tabindex: '0', 'aria-label': t('panel.member.metadata') }, pretty(member.metadata))];
		return [
			summary,
			h('section.part', edit({ ...member }, path, isSelf, done)),
			isSelf
				? h('p.part.hint', t('panel.member.self'))
				: h('section.part', h('h3', t('panel.member.access')), h('div.actions', access(context.org.name, member, path, (isGone) => {
					changed();
					if (isGone) discard(dialog);
					dialog.leave();
				}))),
			h('section.part', h('h3', t('panel.view.sessions')), sessionsOf(member, path)),
			h('section.part', h('h3', t('panel.member.activity')), activityOf(member)),
		];
	}, { wide: true, onclose });
	stand(`#/members/${member.userId}`);
}

// Role and metadata are one form, so that saving the one cannot lose the other.
function edit(member, path, isSelf, done) {
	const role = roleField(member.role);
	const metadata = field({
		label: t('panel.member.metadata'), name: 'metadata', type: 'textarea', rows: 8, class: 'code', value: pretty(member.metadata),
		hint: t('panel.member.metadata.hint'),
	});
	metadata.input.addEventListener('input', () => metadata.fail(metadataProblem(metadata.value)));
	const save = async () => {
		const said = [];
		const [text, wanted] = [compact(metadata.value), role.value];
		// What is saved already is not sent again when the other is refused.
		if (text !== compact(member.metadata)) {
			await api('PATCH', path, undefined, { text: `{"metadata":${text}}` });
			member.metadata = text;
			said.push(t('panel.member.metadata.saved'));
		}
		if (wanted !== member.role) {
			await api('PUT', `${path}/role`, { role: wanted });
			member.role = wanted;
			const role = wanted === 'org_admin' ? 'admin' : 'member';
			said.push(t(`panel.member.now.${isSelf ? 'you_' : ''}${role}`, { name: member.name }));
		}
		done(said.join(' ') || t('panel.member.unchanged'));
	};
	return form({
		fields: [role, metadata], submit: t('panel.save_changes'), kind: '',
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
		title: t('panel.member.step_down.title'), text: t('panel.member.step_down.text'),
		actions: (dialog) => {
			dialog.addEventListener('close', () => answer(dialog.returnValue === 'yes'));
			return button(t('panel.member.step_down.action'), () => dialog.close('yes'), { kind: 'danger' });
		},
	});
});

function access(org, { name, status }, path, done) {
	const change = (to, said) => () => api('PUT', `${path}/status`, { status: to }).then(() => said);
	const suspend = () => confirm({
		title: sentence('panel.member.suspend.title', { name }), action: t('panel.suspend'), done, run: change('suspended', t('panel.member.suspended', { name })), request: () => ['PUT', `${path}/status`, { status: 'suspended' }],
		text: sentence('panel.member.suspend.text', { name, organization: org }),
	});
	const reactivate = () => confirm({
		title: sentence('panel.member.reactivate.title', { name }), action: t('panel.reactivate'), kind: 'primary', done, run: change('active', t('panel.member.active', { name })), request: () => ['PUT', `${path}/status`, { status: 'active' }],
		text: sentence('panel.member.reactivate.text', { name, organization: org }),
	});
	const end = () => confirm({
		title: sentence('panel.member.end.title', { name }), action: t('panel.member.end'), run: () => api('DELETE', `${path}/sessions`).then(() => t('panel.member.ended')), done, request: () => ['DELETE', `${path}/sessions`],
		text: sentence('panel.member.end.text', { name, organization: org }),
	});
	const remove = () => confirm({
		title: sentence('panel.member.remove.title', { name }), action: t('panel.member.remove'), run: () => api('DELETE', path).then(() => t('panel.member.removed')), done: () => done(true), request: () => ['DELETE', path],
		text: sentence('panel.member.remove.text', { name, organization: org }),
	});
	return [
		button(t('panel.member.end'), end),
		status === 'active' ? button(t('panel.suspend'), suspend, { kind: 'danger-quiet' }) : button(t('panel.reactivate'), reactivate),
		button(t('panel.member.remove'), remove, { kind: 'danger-quiet' }),
	];
}
