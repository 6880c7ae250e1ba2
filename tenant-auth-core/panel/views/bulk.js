// Inviting many people at once: addresses are pasted or read from a file, each line is shown with what will become of it before
// anything is sent, and with what became of it afterwards.

import { all, api, badge, busy, button, counted, emailField, field, fill, form, h, is, notice, number, open, roleBadge, roleField, roleName, rowButton, t, table, toast, told } from '../kit.js';
import { rowsOf } from '../csv.js';
import { words } from '../words.js';

const MOST = 1000;
const AT_ONCE = 100;
// As the API names them, and as this page does.
const ROLES = new Map([['member', 'member'], ['admin', 'org_admin'], ['org_admin', 'org_admin']]);
for (const role of ['member', 'org_admin']) ROLES.set(roleName(role).toLowerCase(), role);
const SAID = {
	new: [t('panel.bulk.new'), 'good'], member: [t('panel.bulk.member')], invited: [t('panel.bulk.already'), 'wait'], malformed: [t('panel.bulk.malformed'), 'bad'],
	twice: [t('panel.bulk.twice')], role: [t('panel.bulk.role'), 'bad'], sent: [t('panel.column.invited'), 'good'], resent: [t('panel.bulk.again'), 'good'],
	already_member: [t('panel.bulk.member')], already_invited: [t('panel.bulk.already'), 'wait'], invalid_request: [t('panel.bulk.malformed'), 'bad'], rate_limited: [t('panel.bulk.limited'), 'bad'],
};

/**
 * The people a text names: `[{email, role, state}]`, where `state` is null for one who can be invited as far as the text tells. A row
 * has an address, or several, and perhaps a role; a first row without an address may say which column is which.
 */
export function peopleIn(text, role) {
	const rows = rowsOf(text);
	const isHead = rows.length > 1 && rows[0].some((cell) => /^(e-?mail|address|e-?mail address)$/i.test(cell));
	const column = isHead ? rows[0].findIndex((cell) => /^role$/i.test(cell)) : -1;
	const known = new Set();
	return rows.slice(isHead ? 1 : 0).flatMap((row) => {
		const named = column < 0 ? row.find((cell) => ROLES.has(cell.toLowerCase())) ?? meantForRole(row) : row[column];
		const addresses = row.filter((cell) => cell.includes('@'));
		return (addresses.length ? addresses : [row.join(' ')]).map((cell) => {
			const email = (/<([^<>]+)>\s*$/.exec(cell)?.[1] ?? cell).trim();
			const own = named ? ROLES.get(named.toLowerCase()) : role;
			const state = !isAddress(email) ? 'malformed' : known.has(email.toLowerCase()) ? 'twice' : own ? null : 'role';
			if (!state || state === 'role') known.add(email.toLowerCase());
			return { email, role: own, state };
		});
	});
}

// A word in small letters behind an address: a name begins with a capital, and a role that is not known must not pass for one, or whoever
// has it is invited with another.
function meantForRole(row) {
	const [address, word, ...rest] = row.filter(Boolean);
	return address.includes('@') && !rest.length && /^[\p{Ll}_-]+$/u.test(word ?? '') ? word : undefined;
}

// As a browser judges one.
const isAddress = (text) => {
	const { input } = emailField({ value: text });
	return text.includes('@') && input.checkValidity();
};

export function inviteMany(done) {
	open(t('panel.bulk.title'), (dialog) => {
		const [choice, outcome] = [h('div'), h('div')];
		const people = field({
			label: t('panel.bulk.addresses'), name: 'people', type: 'textarea', rows: 8, class: 'code', placeholder: 'name@example.com\nboss@example.com, admin',
			hint: t('panel.bulk.addresses.hint', { most: number(MOST) }),
		});
		const file = field({ label: t('panel.bulk.file'), name: 'file', type: 'file', accept: '.csv,.txt,text/csv,text/plain', optional: true, hint: t('panel.bulk.file.hint') });
		file.input.addEventListener('change', async () => {
			const [chosen] = file.input.files;
			if (!chosen) return;
			people.value = [people.value.trim(), (await chosen.text()).replace(/^\ufeff/, '').trim()].filter(Boolean).join('\n');
			people.fail('');
			file.value = '';
			people.input.focus();
		});
		const role = roleField();
		const back = () => {
			fill(outcome);
			choice.hidden = false;
			people.input.focus();
		};
		const look = form({
			fields: [people, file, role], submit: t('panel.bulk.look'), cancel: () => dialog.leave('cross'), keeps: false,
			check() {
				const count = peopleIn(people.value, role.value).length;
				return count > MOST ? ['people', t('panel.bulk.many', { count: number(count), most: number(MOST) })] : !count && ['people', t('panel.bulk.nobody')];
			},
			onsubmit: async () => {
				const list = await judged(peopleIn(people.value, role.value));
				choice.hidden = true;
				preview(outcome, list, { back, close: () => dialog.leave('cross'), changed: done, sent(unsent) {
					if (unsent.length) people.value = unsent.map((one) => `${one.email}, ${one.role}`).join('\n');
					else look.settle();
					done();
				} });
			},
		});
		// Looked at is not sent.
		let isOver = false;
		Object.assign(look, { typed: () => 'looked at', isUnsaved: () => !isOver && Boolean(people.value.trim()), settle: (how) => (isOver ||= how !== 'looked at') });
		fill(choice, h('p.dialog-text', t('panel.bulk.text')), look);
		return [choice, outcome];
	}, { wide: true });
}

const lower = (one) => one.email.toLowerCase();

// With what the organization knows of each of them; whoever waits for an answer has the `id` of the invite.
async function judged(people) {
	const [members, invites] = await Promise.all([all('/org/members', 'members'), all('/org/invites', 'invites')]);
	const [inside, waiting] = [new Set(members.map(lower)), new Map(invites.map((one) => [lower(one), one.id]))];
	return people.map((one) => ({ ...one, id: waiting.get(lower(one)), state: one.state ?? (inside.has(lower(one)) ? 'member' : waiting.has(lower(one)) ? 'invited' : 'new') }));
}

function preview(box, list, ways) {
	const wanted = list.filter((one) => one.state === 'new');
	const say = notice();
	const others = list.length - wanted.length;
	const title = headed(t('panel.bulk.ahead'), others ? counted('panel.bulk.will_but', wanted.length, { others: counted('panel.bulk.lines', others) }) : counted('panel.bulk.will', wanted.length));
	const leave = button(t('panel.bulk.back'), ways.back);
	const send = button(counted('panel.bulk.send', wanted.length), () => busy(send, async () => {
		say.clear();
		leave.disabled = true;
		try {
			await sendAll(wanted);
		} catch (error) {
			await lookAgain(wanted, error);
			if (wanted.every((one) => one.state === 'new')) return say.fail(error);
			for (const one of wanted) if (one.state === 'new') one.state = 'unsent';
		} finally {
			leave.disabled = false;
		}
		ways.sent(list.filter(isUnsent));
		results(box, await withIds(list), ways);
	}), { kind: 'primary', disabled: !wanted.length });
	fill(box, title, lines(list, ways.changed), say, h('div.actions.end', leave, send));
	title.querySelector('h3').focus();
}

// A hundred at a time; what became of each is written to it.
async function sendAll(wanted) {
	for (let from = 0; from < wanted.length; from += AT_ONCE) {
		const part = wanted.slice(from, from + AT_ONCE);
		const { results: answers } = await api('POST', '/org/members/invite/bulk', { invites: part.map(({ email, role }) => ({ email, role })) });
		answers.forEach(({ invite, code }, index) => Object.assign(part[index], { state: invite ? 'sent' : code }));
	}
}

// Where an answer was lost, the invites may have been sent all the same.
async function lookAgain(wanted, error) {
	const rest = wanted.filter((one) => one.state === 'new');
	const now = await judged(rest.map((one) => ({ ...one, state: null }))).catch(() => []);
	now.forEach(({ id, state }, index) => Object.assign(rest[index], { id, state: state === 'invited' ? 'sent' : state }));
	for (const one of rest) one.why = words(error);
}

// Whatever else kept one from being sent may be over the next time.
const isUnsent = ({ state }) => state === 'rate_limited' || !Object.hasOwn(SAID, state);

// Whoever was invited meanwhile by somebody else can be sent the link again, too.
async function withIds(list) {
	if (!list.some((one) => one.state === 'already_invited')) return list;
	const waiting = new Map((await all('/org/invites', 'invites').catch(() => [])).map((one) => [lower(one), one.id]));
	return list.map((one) => ({ ...one, id: one.id ?? waiting.get(lower(one)) }));
}

function results(box, list, { back, close, changed }) {
	const sent = list.filter((one) => one.state === 'sent').length;
	const others = list.length - sent;
	const title = headed(t('panel.bulk.happened'), others ? counted('panel.bulk.sent_but', sent, { others: counted('panel.bulk.unsent', others) }) : counted('panel.bulk.sent', sent));
	fill(box, title, lines(list, changed), h('div.actions.end', list.some(isUnsent) && button(t('panel.bulk.back'), back), button(t('panel.bulk.done'), close, { kind: 'primary' })));
	title.querySelector('h3').focus();
}

const headed = (title, text) => h('div', h('h3', { tabindex: '-1' }, title), told('.dialog-text', text));

const lines = (list, changed) => table(t('panel.operator.people'), [t('panel.audit.address'), t('panel.role'), t('panel.column.what'), ''], list.map((one) => {
	const state = h('div.badges', mark(one));
	return [h('span.break', one.email), one.role ? roleBadge(one) : '', state, one.id && ['invited', 'already_invited'].includes(one.state) ? resend(one, state, changed) : ''];
}));

const mark = (one) => badge(...(SAID[one.state] ?? [one.why ?? t('panel.bulk.not_sent'), 'bad']));

function resend(one, state, changed) {
	const again = rowButton(t('panel.resend'), one.email, () => busy(again, () => api('POST', `/org/invites/${one.id}/resend`).then(() => {
		one.state = 'resent';
		fill(state, mark(one));
		again.disabled = true;
		toast(t('panel.invites.resent', { email: one.email }));
		changed();
	}, (error) => toast(is(error, 'not_found') ? t('panel.bulk.gone') : words(error), true))));
	return again;
}
