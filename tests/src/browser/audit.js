// What an accessibility checker looks for, on the page as it is now. Answers what is wrong, as sentences.

const wrong = [];
const shown = (element) => element.outerHTML.slice(0, 140);
const root = dialog() ?? document.body;
const all = (selector) => [...root.querySelectorAll(selector)].filter(there);
const style = (element, part) => getComputedStyle(element, part);

// -- Colours, whatever notation they are in: painted, and read back.
const pixel = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
const painted = new Map();
function rgba(colour) {
	if (!painted.has(colour)) {
		pixel.clearRect(0, 0, 1, 1);
		pixel.fillStyle = colour;
		pixel.fillRect(0, 0, 1, 1);
		const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
		painted.set(colour, [r, g, b, a / 255]);
	}
	return painted.get(colour);
}
const over = ([r, g, b, a], [r2, g2, b2]) => [r * a + r2 * (1 - a), g * a + g2 * (1 - a), b * a + b2 * (1 - a), 1];
function ground(element) {
	const layers = [];
	for (let one = element; one; one = one.parentElement) {
		const { backgroundColor, backgroundImage } = style(one);
		if (backgroundImage !== 'none') return null;
		layers.push(rgba(backgroundColor));
		if (layers.at(-1)[3] === 1) break;
	}
	const canvas = matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18, 1] : [255, 255, 255, 1];
	return layers.reduceRight((below, layer) => over(layer, below), canvas);
}
const light = ([r, g, b]) => {
	const [x, y, z] = [r, g, b].map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
	return 0.2126 * x + 0.7152 * y + 0.0722 * z;
};
function contrast(element, colour, what) {
	const below = ground(element);
	if (!below) return wrong.push(`${what}: text on a picture cannot be judged: ${shown(element)}`);
	let opacity = 1;
	for (let one = element; one; one = one.parentElement) opacity *= Number(style(one).opacity);
	const [r, g, b, a] = rgba(colour);
	const [high, low] = [light(over([r, g, b, a * opacity], below)), light(below)].sort((x, y) => y - x);
	const ratio = (high + 0.05) / (low + 0.05);
	if (ratio < 4.495) wrong.push(`${what}: contrast ${ratio.toFixed(2)} : 1 of ${colour} on ${below.slice(0, 3).map(Math.round)}: ${shown(element)}`);
}
function readable() {
	const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
	const judged = new Set();
	while (walker.nextNode()) {
		const element = walker.currentNode.parentElement;
		if (!squeezed(walker.currentNode.data) || judged.has(element) || element.closest('svg, script, style, option')) continue;
		judged.add(element);
		const { width, height } = element.getBoundingClientRect();
		const isOff = element.closest(':disabled, [aria-disabled=true]') || element.closest('label')?.control?.disabled;
		if (!there(element) || width <= 1 || height <= 1 || isOff) continue;
		contrast(element, style(element).color, 'text');
	}
	for (const field of all('input:not([type=checkbox], [type=radio]), textarea, select')) {
		if (field.disabled) continue;
		contrast(field, style(field).color, 'value');
		if (field.placeholder) contrast(field, style(field, '::placeholder').color, 'placeholder');
	}
}

// -- Focus can be seen on everything it can be on.
const FOCUSABLE = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';
const ring = (element) => {
	const [own, outer] = [style(element), style(element.parentElement)];
	const look = (one) => [one.outlineStyle === 'none' ? '' : [one.outlineStyle, one.outlineWidth, one.outlineColor, one.outlineOffset], one.boxShadow, one.borderColor];
	return JSON.stringify([look(own), look(outer)]);
};
function focusShows() {
	for (const element of all(FOCUSABLE)) {
		if (element.disabled || element.closest('[inert]')) continue;
		element.blur();
		const before = ring(element);
		element.focus({ focusVisible: true });
		if (document.activeElement !== element) wrong.push(`cannot be focused: ${shown(element)}`);
		else if (ring(element) === before) wrong.push(`nobody sees that it has the focus: ${shown(element)}`);
	}
}

// -- The outline of the page.
function ordered() {
	if (!document.documentElement.lang) wrong.push('the page has no language');
	if (!squeezed(document.title)) wrong.push('the page has no title');
	const titles = [...document.querySelectorAll('h1')].filter(there);
	if (titles.length !== 1) wrong.push(`the page has ${titles.length} h1: ${titles.map(shown)}`);
	const landmarks = [...document.querySelectorAll('main, [role=main]')].filter(there);
	if (landmarks.length !== 1) wrong.push(`the page has ${landmarks.length} main landmarks`);
	let level = 0;
	for (const heading of all('h1, h2, h3, h4, h5, h6')) {
		const next = Number(heading.tagName[1]);
		if (next > level + 1 && level > 0) wrong.push(`h${next} after h${level}: ${shown(heading)}`);
		if (!squeezed(heading.textContent)) wrong.push(`an empty heading: ${shown(heading)}`);
		level = next;
	}
	for (const element of document.querySelectorAll('[tabindex]')) {
		if (element.tabIndex > 0) wrong.push(`a positive tabindex: ${shown(element)}`);
	}
	const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
	for (const id of new Set(ids.filter((id, index) => ids.indexOf(id) !== index))) wrong.push(`the id ${id} is there twice`);
}

// -- Everything has a name.
function named() {
	for (const control of all('button, a[href], input, select, textarea, summary, [role=button], [role=switch], [role=tab]')) {
		if (!nameOf(control)) wrong.push(`no name: ${shown(control)}`);
		if (control.matches('input:not([type=hidden]), select, textarea') && !control.labels?.length && !control.ariaLabel && !control.getAttribute('aria-labelledby')) {
			wrong.push(`no label: ${shown(control)}`);
		}
		for (const id of (control.getAttribute('aria-describedby') ?? '').split(' ').filter(Boolean)) {
			if (!document.getElementById(id)) wrong.push(`described by what is not there: ${shown(control)}`);
		}
		if (control.type === 'password' && !control.autocomplete) wrong.push(`password managers are not told what this is: ${shown(control)}`);
	}
	for (const picture of document.querySelectorAll('img')) if (!picture.hasAttribute('alt')) wrong.push(`an image without alt: ${shown(picture)}`);
	for (const picture of all('svg')) {
		if (picture.getAttribute('aria-hidden') !== 'true' && !picture.ariaLabel) wrong.push(`a drawing without a name: ${shown(picture)}`);
	}
	for (const one of document.querySelectorAll('dialog[open], [role=dialog]')) if (!nameOf(one) || !(one.ariaLabel || one.getAttribute('aria-labelledby'))) wrong.push(`a dialog without a name: ${shown(one)}`);
	for (const nav of document.querySelectorAll('nav')) if (!nav.ariaLabel && !nav.getAttribute('aria-labelledby')) wrong.push(`a navigation without a name: ${shown(nav)}`);
	for (const table of all('table')) if (!table.caption && !table.ariaLabel) wrong.push(`a table without a name: ${shown(table)}`);
	for (const group of all('fieldset')) if (!squeezed(group.querySelector('legend')?.textContent)) wrong.push(`a group without a name: ${shown(group)}`);
}

// -- It fits.
function fits() {
	const { scrollWidth, clientWidth } = document.documentElement;
	if (scrollWidth > clientWidth) {
		const wide = [...document.querySelectorAll('body *')].filter((one) => there(one) && one.getBoundingClientRect().right > clientWidth + 1).at(-1);
		wrong.push(`at ${innerWidth} px the page is ${scrollWidth} px wide: ${wide && shown(wide)}`);
	}
	for (const control of all('button, input, select, textarea')) {
		const { left, right } = control.getBoundingClientRect();
		const scrolls = control.closest('pre, table, .scroll') ?? control.parentElement;
		if ((left < -1 || right > clientWidth + 1) && scrolls.scrollWidth <= scrolls.clientWidth) wrong.push(`at ${innerWidth} px out of reach: ${shown(control)}`);
	}
}

const still = new CSSStyleSheet();
still.replaceSync('*, *::before, *::after { transition: none !important; animation: none !important; caret-color: transparent !important }');
const before = document.activeElement;
document.adoptedStyleSheets.push(still);
const checks = { ordered, named, readable, focusShows, fits };
for (const name of arguments[0]) checks[name]();
document.adoptedStyleSheets.pop();
before?.focus();
return [...new Set(wrong)].slice(0, 40);
