// What stops a tab: its session is over, or another tab opened one for another person or another organization. A stopped tab sends
// nothing. Where unsaved work is on the page, the same person may sign in over it and go on; else the tab leaves for the sign-in page
// (behaviour.md, B230 and B231).

import { signInForm } from './hosted/sign-in.js';
import { button, fill, forgive, h, open, said, unsaved } from './kit.js';
import { chooseSlug, currentSlug, home, keepPlace, lastSlug, setSignedInAs, toSignIn } from './store.js';

const WHY = {
	ended: 'Your session is over.',
	'signed-out': 'You signed out in another tab.',
	other: 'Somebody else signed in here.',
};

// The tab's open stop: its dialog, and the requests that wait for it.
let stop = null;

// Leaves for the sign-in page, which says why; the answer never comes.
export function leave(why, me) {
	forgive();
	if (why !== 'left') keepPlace(location.hash);
	if (why !== 'other') setSignedInAs(null);
	location.assign(toSignIn({ org: currentSlug() ?? '', ...(me && { email: me.user.email }), why }));
	return new Promise(() => {});
}

// The same person has a session here again.
export function goOn() {
	stop?.dialog.close();
	stop?.resume();
	stop = null;
}

// One stop at a time, the latest; it answers when the tab may go on.
function stopped(title, content) {
	stop?.dialog.close();
	const dialog = open(title, content, { stay: () => true });
	dialog.classList.add('stop');
	dialog.querySelector('.round').remove();
	const before = stop;
	let resume;
	const waits = new Promise((resolve) => (resume = resolve));
	stop = {
		dialog, waits,
		resume() {
			before?.resume();
			resume();
		},
	};
	return waits;
}

// The session is over, for one of the reasons above.
export function sessionOver(why, me) {
	if (!me || !unsaved()) return stop?.waits ?? leave(why, me);
	if (stop?.why === why) return stop.waits;
	const waits = stopped('Sign in again', () => signInPlace(why, me));
	stop.why = why;
	return waits;
}

// Only as the person whose work it is.
function signInPlace(why, me) {
	const box = h('div');
	signInForm(box, {
		org: me.org.slug, email: me.user.email, fixed: true,
		onsignedin: ({ user }) => (user.id === me.user.id ? goOn() : leave('other', me)),
	});
	return [
		h('p.dialog-text', `${WHY[why]} Sign in again to keep what you have not saved.`), box,
		h('div.actions.end', button('Leave without saving', () => leave(why, me))),
	];
}

// Another person signed in to this organization: nothing more is done in their name.
export function somebodyElse(me) {
	const back = () => (unsaved() ? fill(body, signInPlace('other', me)) : leave('other', me));
	const follow = () => {
		forgive();
		location.replace(home());
	};
	const body = h('div',
		h('p.dialog-text', said`Another tab of this browser signed in as somebody else, so this one can do nothing more as ${me.user.name}.`),
		h('div.actions.end', button(`Sign in as ${me.user.name}`, back), button('Go on as the other person', follow, { kind: 'primary', mark: 'switch' })));
	return stopped('Somebody else signed in', () => body);
}

// A browser has one session, and another tab opened it in another organization.
export function elsewhere(me, there = lastSlug()) {
	if (stop?.there === there) return stop.waits;
	const here = currentSlug();
	const follow = () => {
		forgive();
		chooseSlug(there);
		location.replace(home());
	};
	const back = () => (me && unsaved() ? fill(body, signInPlace('other', me)) : leave('elsewhere', me));
	const body = h('div',
		h('p.dialog-text', `Another tab of this browser signed in to ${there === here ? 'another organization' : there}, so this one can no longer show ${here}.`),
		h('div.actions.end', button(`Sign in to ${here}`, back), there !== here && there && button(`Switch to ${there}`, follow, { kind: 'primary', mark: 'switch' })));
	const waits = stopped('Signed in to another organization', () => body);
	stop.there = there;
	return waits;
}
