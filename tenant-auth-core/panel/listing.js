// The API's lists, page by page. What they are searched and filtered by stands in the address; the API searches, and sees all entries.

import { page } from './api.js';
import { fill, h, icon, put } from './dom.js';
import { focusIn, keepFocus } from './focus.js';
import { live } from './live.js';
import { memory, place, rewrite } from './place.js';
import { keyedRows } from './rows.js';
import { number, pluralForm, t } from './text.js';
import { busy, button, empty, loading, notice } from './ui.js';

const PAGE = 100;
const MOST = 1000;
const PAUSE = 250;

/**
 * `line` turns an entry into a row's cells; `nothing` stands for an empty list; `search`: the parameter by
 * which the API searches this list; `filters` are `[parameter, name, options]`; `prepare` may add to the loaded entries. `failed`: see `loading`.
 * @param {ListingOptions} options
 */
export function listing({ path, key, noun, columns, line, nothing, search, filters = [], parse, order, sort, query, prepare, failed, loaded }) {
	const [wanted, { y = 0, least = 0 }] = [place().query, memory()];
	let [items, next, turn, typing] = [[], null, 0, null];
	const nouns = (amount) => t(`panel.noun.${noun}.${pluralForm(amount)}`);
	const many = t(`panel.noun.${noun}.other`);
	const input = h('input', { type: 'search', value: (search && wanted[search]) || '', placeholder: t('panel.list.search', { noun: many }), 'aria-label': t('panel.list.search', { noun: many }), autocomplete: 'off', maxlength: 100 });
	const selects = filters.map(([name, label, options]) =>
		h('select', { name, 'aria-label': label }, options.map(([value, text]) => h('option', { value, selected: value === wanted[name] }, text))));
	const chosen = () => Object.fromEntries(selects.map((one) => [one.name, one.value]).filter(([, value]) => value));
	const text = () => input.value.trim();
	let last = text();

	// From the beginning, or from a cursor on, so many entries at least. A late answer to a former question is dropped.
	const get = async (count, cursor = null) => {
		const mine = (turn += 1);
		const found = cursor ? [...items] : [];
		const asked = { ...query, ...chosen(), ...(search && text() && { [search]: text() }) };
		try {
			do {
				const limit = Math.min(MOST, Math.max(PAGE, count - found.length));
				const part = await page(path, key, { cursor, limit, parse, order, query: asked });
				found.push(...part.items);
				cursor = part.next;
			} while (cursor && found.length < count);
		} catch (error) {
			if (mine === turn) throw error;
		}
		if (mine !== turn) return;
		[items, next] = [prepare ? prepare(found) : found, cursor];
	};

	const [say, count, rows, none, more] = [notice(), live('status', '.count-line'), keyedRows(many, columns, line), h('div'), h('div.actions.center')];
	const find = search && h('div.search', icon('search'), input);
	const bar = h('div.toolbar', find, selects, count);
	const draw = () => {
		if (box.isConnected) memory().least = items.length;
		const isAsked = Boolean(text() || selects.some((one) => one.value));
		const loadedSo = { count: number(items.length), noun: nouns(items.length) };
		const isNothing = !(items.length || isAsked);
		if (isNothing) count.clear();
		else count.say(isAsked ? t(next ? 'panel.list.found_more' : 'panel.list.found', loadedSo) : t(next ? 'panel.list.first' : 'panel.list.count', loadedSo));
		rows.show(sort ? items.toSorted(sort) : items);
		rows.hidden = !items.length;
		for (const one of [find, ...selects]) if (one) one.hidden = isNothing;
		keepFocus(none, () => fill(none, !items.length && (isAsked ? empty('search', t('panel.list.nothing'), t('panel.list.none', { noun: many }), button(t('panel.list.all'), clear)) : nothing?.())));
		more.hidden = !next;
	};
	const renew = async () => {
		if (!box.isConnected) return; // the view was left meanwhile
		say.clear();
		// In one order, whatever was asked for first: the same list has the same address.
		const unasked = Object.fromEntries([...(search ? [search] : []), ...filters.map(([name]) => name)].map((name) => [name, '']));
		rewrite({ ...unasked, ...place().query, ...unasked, ...chosen(), ...(search && { [search]: text() }) });
		await get(PAGE).then(draw, say.fail);
	};
	const clear = () => {
		input.value = last = '';
		selects.forEach((one) => (one.value = ''));
		if (search) input.focus();
		return renew();
	};
	const rest = (name, far) => {
		const element = button(name, () => busy(element, async () => {
			const before = items.length;
			say.clear();
			await get(far(), next).then(draw, say.fail);
			if (more.hidden && rows.tBodies[0].rows[before]) focusIn(rows.tBodies[0].rows[before]);
		}));
		return element;
	};
	put(more, rest(t('panel.list.load_more'), () => items.length + PAGE), rest(t('panel.list.load_all'), () => Infinity));
	const typed = () => {
		if (text() === last) return;
		last = text();
		clearTimeout(typing);
		typing = setTimeout(renew, PAUSE);
	};
	for (const event of ['input', 'change']) input.addEventListener(event, typed);
	selects.forEach((one) => one.addEventListener('change', renew));
	let whole = null;
	const box = loading(() => get(least), () => {
		whole ??= [bar, say, rows, none, more];
		draw();
		loaded?.(items);
		requestAnimationFrame(() => y && scrollTo(0, y));
		return whole;
	}, failed);
	// Changed behind the list's back: as many as were shown are loaded again, in their places.
	const reload = () => (whole ? get(items.length + (next ? 0 : PAGE)).then(draw, say.fail) : box.reload());
	return Object.assign(box, { reload });
}
