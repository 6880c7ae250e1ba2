// Where the panel is: the address of a view, such as `#/members?role=org_admin`, and its entry in the browser's history. Back is
// followed only when nothing stands in its way: a dialog is left first, and unsaved work asks.

let at = null; // the number of the entry
let shown = ''; // its address
let spareAt = null;
let isReturning = false;
let afterReturn = null;
const memories = new Map();

// The address in its parts.
export function place(hash = location.hash) {
	const [path, query] = hash.replace(/^#\/?/, '').split('?');
	const [view, detail] = path.split('/');
	return { view, detail: detail && decoded(detail), query: Object.fromEntries(new URLSearchParams(query)) };
}

function decoded(part) {
	try {
		return decodeURIComponent(part);
	} catch {
		return part; // typed by hand
	}
}

// Does something once the address is the one of the view that is shown: at once, or when a step has been taken back.
export const whenSettled = (work) => (isReturning ? void (afterReturn = work) : work());

// Changes what the address asks for, without a step in the history; once a step is taken back, where that is under way.
export function rewrite(query, path = location.hash.split('?')[0] || '#/members') {
	if (isReturning) return void (afterReturn = () => rewrite(query, path));
	const asked = new URLSearchParams(Object.entries(query).filter(([, value]) => value));
	history.replaceState(history.state, '', `${path}${asked.size ? `?${asked}` : ''}`);
	shown = location.hash;
}

// What is remembered of this entry until the page is loaded again: how far it was scrolled, how much was loaded.
export function memory() {
	if (!memories.has(at)) memories.set(at, {});
	return memories.get(at);
}

// Without an entry before it, Back would leave the page together with an open dialog.
export function spareEntry() {
	if (at !== 0) return;
	at = spareAt = 1;
	history.pushState({ at }, '');
}

/**
 * Calls `arrive` at each new address. `mayLeave(isNew, goOn)` answers false when something stands in the way; the address is then
 * put back, and `goOn` goes there later.
 */
export function travel(arrive, mayLeave) {
	history.scrollRestoration = 'manual';
	[at, shown] = [history.state?.at ?? 0, location.hash];
	history.replaceState({ at }, '');
	addEventListener('scroll', () => (memory().y = scrollY), { passive: true });
	const move = () => {
		// A step is told of twice, by `popstate` and `hashchange`; one that is being taken back is not looked at again.
		if (isReturning) {
			isReturning = history.state?.at !== at;
			if (isReturning) return;
			afterReturn?.();
			afterReturn = null;
			return;
		}
		const isNew = history.state?.at === undefined;
		if (isNew) {
			for (const later of [...memories.keys()]) if (later > at) memories.delete(later);
			history.replaceState({ at: at + 1 }, '');
		}
		const to = history.state.at;
		const steps = at - to;
		if (!steps && location.hash === shown) return;
		if (steps && !mayLeave(isNew, () => history.go(-steps))) {
			isReturning = true;
			return history.go(steps);
		}
		const wasSpare = steps === 1 && at === spareAt && location.hash === shown;
		[at, shown] = [to, location.hash];
		if (wasSpare) history.back();
		else arrive();
	};
	onpopstate = onhashchange = move;
}
