// The API's lists, page by page. A search sees the loaded pages only, and says so.

import { page } from './api.js';
import { fill, h, icon } from './dom.js';
import { busy, button, empty, loading, notice, table } from './ui.js';

// `line` turns an entry into a row's cells; `nothing` stands for an empty list; `search` answers the text an entry is found by.
export function listing({ path, key, noun, columns, line, nothing, search, parse, order, query }) {
	let [items, next] = [[], null];
	const get = async (cursor) => {
		const part = await page(path, key, { cursor, parse, query });
		[items, next] = [cursor ? [...items, ...part.items] : part.items, part.next];
	};
	const input = h('input', { type: 'search', placeholder: `Search ${noun}`, 'aria-label': `Search ${noun}`, autocomplete: 'off' });
	const count = h('p.count-line', { role: 'status' });
	const rows = h('div');
	const draw = () => {
		const wanted = input.value.trim().toLowerCase();
		const shown = wanted ? items.filter((one) => search(one).toLowerCase().includes(wanted)) : items;
		const loaded = `${next ? 'the first ' : ''}${items.length.toLocaleString('en')} ${noun}`;
		count.textContent = wanted ? `${shown.length} found in ${loaded}` : next ? `Showing ${loaded}` : loaded;
		const sorted = order ? shown.toSorted(order) : shown;
		if (shown.length) fill(rows, table(noun, columns, sorted.map(line)));
		else fill(rows, wanted ? empty('search', 'Nothing found', next ? 'Not among those loaded so far. Load the others, too.' : 'None of them contains this text.') : nothing());
		if (next) rows.append(rest());
	};
	const rest = () => {
		const say = notice();
		const load = (whole) => async () => {
			try {
				do await get(next);
				while (whole && next);
				draw();
			} catch (error) {
				say.fail(error);
			}
		};
		const more = button('Load more', () => busy(more, load(false)));
		const every = button('Load all', () => busy(every, load(true)));
		return h('div', say, h('div.actions.center', more, every));
	};
	input.addEventListener('input', draw);
	return loading(() => get(null), () => {
		draw();
		return [search && h('div.toolbar', h('div.search', icon('search'), input), count), rows];
	});
}
