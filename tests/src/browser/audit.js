// What axe-core cannot judge, on the page as it is now: that focus is seen, that everything fits, and what this panel does beyond a
// checker's rules. Answers what is wrong, as sentences.

const wrong = [];
const shown = (element) => element.outerHTML.slice(0, 140);
const root = dialog() ?? document.body;
const all = (selector) => [...root.querySelectorAll(selector)].filter(there);
const style = (element, part) => getComputedStyle(element, part);

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

// -- What this panel does beyond what a checker asks for.
function conventions() {
	const titles = [...document.querySelectorAll('h1')].filter(there);
	if (titles.length !== 1) wrong.push(`the page has ${titles.length} h1: ${titles.map(shown)}`);
	const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
	for (const id of new Set(ids.filter((id, index) => ids.indexOf(id) !== index))) wrong.push(`the id ${id} is there twice`);
	for (const control of all('button, a[href], input, select, textarea, summary, [role=button], [role=switch], [role=tab]')) {
		for (const id of (control.getAttribute('aria-describedby') ?? '').split(' ').filter(Boolean)) {
			if (!document.getElementById(id)) wrong.push(`described by what is not there: ${shown(control)}`);
		}
		if (control.type === 'password' && !control.autocomplete) wrong.push(`password managers are not told what this is: ${shown(control)}`);
	}
	for (const picture of all('svg')) {
		if (picture.getAttribute('aria-hidden') !== 'true' && !picture.ariaLabel) wrong.push(`a drawing without a name: ${shown(picture)}`);
	}
	for (const one of document.querySelectorAll('dialog[open], [role=dialog]')) if (!(one.ariaLabel || one.getAttribute('aria-labelledby'))) wrong.push(`a dialog without a name: ${shown(one)}`);
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
const checks = { conventions, focusShows, fits };
for (const name of arguments[0]) checks[name]();
document.adoptedStyleSheets.pop();
before?.focus();
return [...new Set(wrong)].slice(0, 40);
