// A table whose rows are known by a key: an entry that did not change keeps its row, so that the place, the scroll and the focus stay.

import { focusIn } from './focus.js';
import { table, tableRow } from './ui.js';

const idOf = (one) => one.id ?? one.userId ?? one.slug;

// `line` turns an entry into cells; `show(items)` brings the rows in line with the entries.
export function keyedRows(caption, columns, line) {
	const element = table(caption, columns, []);
	const body = element.tBodies[0];
	const known = new Map();
	const row = (item) => {
		const [key, text] = [idOf(item), JSON.stringify(item)];
		if (known.get(key)?.text === text) return known.get(key).row;
		const [next, before] = [tableRow(columns, line(item)), known.get(key)?.row];
		before?.replaceWith(next);
		known.set(key, { text, row: next });
		return next;
	};
	const draw = (items) => {
		const keys = new Set(items.map(idOf));
		for (const [key, gone] of known) {
			if (keys.has(key)) continue;
			gone.row.remove();
			known.delete(key);
		}
		items.map(row).forEach((one, index) => {
			if (body.rows[index] !== one) body.insertBefore(one, body.rows[index] ?? null);
		});
	};
	const show = (items) => {
		const had = document.activeElement;
		const old = had.closest('tbody') === body ? had.closest('tr') : null;
		const [index, key] = [old?.sectionRowIndex, [...known].find(([, one]) => one.row === old)?.[0]];
		draw(items);
		if (old && !body.contains(document.activeElement)) focusIn(known.get(key)?.row ?? body.rows[Math.min(index, body.rows.length - 1)], had.textContent);
	};
	return Object.assign(element, { show });
}
