// Builds pages out of elements. Text enters only as text, never as markup.

const SVG = 'http://www.w3.org/2000/svg';
const PROPERTIES = new Set(['value', 'checked', 'disabled', 'hidden', 'selected', 'open', 'readOnly', 'required']);

// An element: `h('p.hint', {…}, …children)`, the properties optional. `on…` functions listen; null and false leave an attribute out.
export function h(kind, ...rest) {
	const [tag, ...classes] = kind.split('.');
	const element = document.createElement(tag);
	element.classList.add(...classes);
	if (tag === 'button') element.type = 'button';
	const props = rest[0]?.constructor === Object ? rest.shift() : {};
	for (const [name, value] of Object.entries(props)) {
		if (typeof value === 'function') element.addEventListener(name.slice(2), value);
		else if (PROPERTIES.has(name)) element[name] = value;
		else if ((value ?? false) !== false) element.setAttribute(name, value === true ? '' : value);
	}
	return put(element, ...rest);
}

// Appends nodes, texts, arrays of both; null and false are nothing.
export function put(parent, ...children) {
	for (const child of children.flat(Infinity)) {
		if ((child ?? false) !== false) parent.append(child);
	}
	return parent;
}

export function fill(parent, ...children) {
	parent.replaceChildren();
	return put(parent, ...children);
}

let ids = 0;

export const uid = () => `i${(ids += 1)}`;

// Lines on a grid of 24, drawn for this panel.
const ICONS = {
	members: 'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7Zm-6 9c0-3.3 2.7-6 6-6s6 2.7 6 6M16 4.5a3.5 3.5 0 0 1 0 6M17.5 14.5c2 1 3.5 3 3.5 5.5',
	invites: 'M3.5 6h17v12h-17ZM4 6.5l8 6.5 8-6.5',
	'api-keys': 'M8 20a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9Zm3-8 9-8.5M16.5 7l3 3M14 9.5l2 2',
	webhooks: 'M12 3v6M7.5 14l-4 6M16.5 14l4 6M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z',
	audit: 'M6 3.5h9l4 4v13H6ZM9.5 11h6M9.5 14.5h6M9.5 7.5h2.5',
	settings: 'M4 7h16M4 17h16M15 4.5v5M9 14.5v5',
	profile: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-7.5 8.5c0-4 3.5-6.5 7.5-6.5s7.5 2.5 7.5 6.5',
	security: 'M12 3l7.5 3v5.5c0 4.5-3.5 8-7.5 9.5-4-1.5-7.5-5-7.5-9.5V6ZM9 12l2 2 4.5-4.5',
	sessions: 'M3.5 5h13v9h-13ZM2 18h11M17 9.5h4V19h-4Z',
	operator: 'M4 20.5V8l8-4.5L20 8v12.5ZM9.5 20v-5h5v5',
	docs: 'M5 3.5h10l4 4v13H5ZM10 11l-2 2.5 2 2.5M14 11l2 2.5-2 2.5',
	out: 'M14 4H5v16h9M10 12h11M17.5 8.5 21 12l-3.5 3.5',
	menu: 'M4 7h16M4 12h16M4 17h16',
	close: 'M6 6l12 12M18 6 6 18',
	warn: 'M12 4 2.5 20h19ZM12 10v4.5M12 17v.5',
	copy: 'M9 9h11v11H9ZM5 15H4V4h11v1',
	check: 'M4.5 12.5l5 5 10-11',
	search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13Zm5-1.5L21 21',
	plus: 'M12 5v14M5 12h14',
	switch: 'M7 4 3.5 7.5 7 11M4 7.5h16M17 13l3.5 3.5L17 20M20 16.5H4',
};

// A picture beside a word; screen readers have the word.
export function icon(name) {
	const svg = document.createElementNS(SVG, 'svg');
	const path = svg.appendChild(document.createElementNS(SVG, 'path'));
	path.setAttribute('d', ICONS[name]);
	svg.setAttribute('viewBox', '0 0 24 24');
	svg.setAttribute('class', 'icon');
	svg.setAttribute('aria-hidden', 'true');
	return svg;
}
