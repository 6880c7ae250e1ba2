// Live regions (WAI-ARIA): what comes into one is read aloud. A region stands on the page first and is filled a moment later: screen
// readers are silent about a region that comes, moves or is unhidden together with its text. Every region of these pages is made here.

import { fill, h } from './dom.js';

const LATER = 40;
const due = new WeakMap();

// Puts content into a region. The same sentence once more is not read again.
export function sayIn(region, ...content) {
	clearTimeout(due.get(region));
	const [text] = content;
	if (content.length === 1 && typeof text === 'string' && region.textContent === text) return;
	region.replaceChildren();
	due.set(region, setTimeout(() => fill(region, content), LATER));
}

export function silence(region) {
	clearTimeout(due.get(region));
	region.replaceChildren();
}

/**
 * A region: a `status` waits for its turn, an `alert` does not.
 * @param {'status' | 'alert'} role
 */
export function live(role, look = '') {
	const region = h(`div.live${look}`, { role });
	return Object.assign(region, {
		say: (/** @type {any[]} */ ...content) => sayIn(region, ...content),
		clear: () => silence(region),
	});
}

// A sentence that is read aloud as it comes.
export function told(look, ...content) {
	const region = live('status', look);
	region.say(...content);
	return region;
}

// Stands for what is not loaded yet.
export const waiting = (look, name, ...content) => h(`div${look}`, content, told('.unseen', name));
