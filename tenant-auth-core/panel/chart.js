// Small bar charts of days, drawn for this panel. A chart is a picture with its sentence; the numbers stand in a table beside it, for
// whoever cannot see a picture or wants them exactly.

import { h } from './dom.js';
import { dayText } from './format.js';
import { number, t } from './text.js';

const SVG = 'http://www.w3.org/2000/svg';
const [STEP, BAR, HEIGHT] = [10, 7, 60];

function shape(kind, attributes, ...children) {
	const element = document.createElementNS(SVG, kind);
	for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
	element.append(...children);
	return element;
}

/**
 * A chart of one kind of thing: how many there were on each of some days. The bars share one scale, from nothing to the most.
 * @param {string} title @param {{ day: string, amount: number }[]} days
 */
export function chart(title, days) {
	const most = Math.max(...days.map(({ amount }) => amount));
	const [first, last] = [dayText(days[0].day), dayText(days.at(-1).day)];
	const sum = days.reduce((total, { amount }) => total + amount, 0);
	const bars = days.map(({ day, amount }, index) => {
		// What is little is seen all the same.
		const height = amount && Math.max(2, (amount / most) * HEIGHT);
		const tip = shape('title', {}, t('panel.chart.tip', { day: dayText(day), count: number(amount) }));
		// A pointer finds a day also where its bar is low.
		return shape('g', {}, tip,
			shape('rect', { class: 'reach', x: index * STEP, y: 0, width: STEP, height: HEIGHT }),
			shape('rect', { x: index * STEP + (STEP - BAR) / 2, y: HEIGHT - height, width: BAR, height }));
	});
	const width = days.length * STEP;
	const floor = shape('path', { d: `M0 ${HEIGHT}.5H${width}` });
	const picture = shape('svg', {
		viewBox: `0 0 ${width} ${HEIGHT + 1}`, preserveAspectRatio: 'none', role: 'img',
		'aria-label': t('panel.chart.says', { title, first, last, sum: number(sum), most: number(most) }),
	}, ...bars, floor);
	return h('figure.chart',
		h('figcaption', h('span', title), h('strong', number(sum))),
		picture,
		h('div.ends', { 'aria-hidden': 'true' }, h('span', first), most > 0 && h('span', t('panel.chart.most', { count: number(most) })), h('span', last)));
}
