// The deployment in figures, above the operator's list of organizations: what there is, and what happened in the last thirty days.

import { api, card, chart, dayText, facts, h, loading, number, t, table } from '../kit.js';

const KINDS = [['signIns', t('panel.figures.sign_ins')], ['joined', t('panel.figures.joined')], ['organizations', t('panel.figures.made')]];

// Loads with `reload()`, which the list calls: whoever may not see the list is told so once.
export function figures() {
	let box = null;
	const place = h('div');
	const reload = () => {
		if (box) return box.reload();
		box = loading(() => api('GET', '/admin/figures'), whole);
		return place.append(box);
	};
	return Object.assign(place, { reload });
}

function whole({ organizations: { active, suspended, deleting }, accounts, members, days }) {
	const columns = [t('panel.figures.day'), ...KINDS.map(([, name]) => name)];
	// The latest first, as in every list of what happened.
	const rows = days.toReversed().map((one) => [h('time', { datetime: one.day }, dayText(one.day)), ...KINDS.map(([name]) => number(one[name]))]);
	return card(t('panel.figures.title'), t('panel.figures.text'),
		h('div.figures', facts(
			[t('panel.figures.active'), number(active)], [t('panel.figures.suspended'), number(suspended)], [t('panel.figures.deleting'), number(deleting)],
			[t('panel.figures.accounts'), number(accounts)], [t('panel.figures.members'), number(members)])),
		h('div.charts', KINDS.map(([name, title]) => chart(title, days.map((one) => ({ day: one.day, amount: one[name] }))))),
		h('details', h('summary', t('panel.figures.table')), table(t('panel.figures.title'), columns, rows)));
}
