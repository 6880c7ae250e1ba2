// Work that is on the page and nowhere else: what somebody typed, and secrets that are shown once. Nothing of it goes without a
// question (behaviour.md, B230).

let isForgiven = false;

// Whether a part of the page holds such work: an edited form, or a dialog that says so itself.
export const unsaved = (part = document) => !isForgiven && [...part.querySelectorAll('form, dialog[open]')].some((one) => one.isUnsaved?.());

// It may go: somebody was asked.
export const discard = (part = document) => part.querySelectorAll('form, dialog[open]').forEach((one) => one.settle?.());

// The page is left, whatever stands on it.
export const forgive = () => (isForgiven = true);

// Closing the tab and loading the page again are the browser's own questions.
export const askBeforeUnload = () => addEventListener('beforeunload', (event) => unsaved() && event.preventDefault());

/**
 * Tells whether a form was edited: `isUnsaved()` compares with what stood there at the last `settle()`, which may be
 * given what `typed()` answered when it was sent. Passwords do not count,
 * because browsers fill them in by themselves.
 */
export function watchEdits(form) {
	const now = () => JSON.stringify([...form.elements].filter((one) => one.name && one.type !== 'password').map((one) => (one.type === 'checkbox' ? one.checked : one.value)));
	let before = now();
	return Object.assign(form, { typed: now, isUnsaved: () => now() !== before, settle: (saved = now()) => (before = saved) });
}
