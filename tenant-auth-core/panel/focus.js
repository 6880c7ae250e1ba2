// Keeps the focus where it was through a redraw: on the same control, else on its neighbour, else on the title.

const CONTROLS = 'button, a[href], input, select, textarea, summary';
const name = (control) => control.getAttribute('aria-label') ?? (control.textContent || control.name);
const usable = (part) => [...part.querySelectorAll(CONTROLS)].filter((one) => !one.disabled);

// Of the open dialog, else of the view.
export const focusTitle = () => ([...document.querySelectorAll('dialog[open] > header h2')].at(-1) ?? document.querySelector('h1'))?.focus();

// Focuses the control of a part that is called so, else its first one.
export function focusIn(part, wanted) {
	const controls = part ? usable(part) : [];
	const found = controls.find((one) => one.textContent === wanted) ?? controls[0];
	if (found) found.focus();
	else focusTitle();
}

export function keepFocus(part, redraw) {
	const had = part.contains(document.activeElement) ? name(document.activeElement) : null;
	redraw();
	if (had === null || part.contains(document.activeElement)) return;
	const same = usable(part).find((one) => name(one) === had);
	if (same) same.focus();
	else focusTitle();
}
