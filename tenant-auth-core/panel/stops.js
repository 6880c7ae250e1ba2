// What stops a tab: its session is over, or another tab opened one for another person or another organization. A stopped tab sends
// nothing. Where unsaved work is on the page, the same person may sign in over it and go on; else the tab leaves for the sign-in page
// (behaviour.md, B230 and B231).

import { signInForm } from './hosted/sign-in.js';
import { button, fill, forgive, h, open, sentence, t, unsaved } from './kit.js';
import { chooseSlug, currentSlug, home, keepPlace, lastSlug, setSignedInAs, toSignIn } from './store.js';

const WHY = {
	ended: t('panel.stop.ended'),
	'signed-out': t('panel.stop.signed_out'),
	other: t('panel.stop.other'),
	elsewhere: t('panel.stop.elsewhere.why'),
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
	const waits = stopped(t('panel.stop.again'), () => signInPlace(why, me));
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
		h('p.dialog-text', t('panel.stop.keep', { why: WHY[why] })), box,
		h('div.actions.end', button(t('panel.stop.leave'), () => leave(why, me))),
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
		h('p.dialog-text', sentence('panel.stop.else.text', { name: me.user.name })),
		h('div.actions.end', button(t('panel.stop.else.back', { name: me.user.name }), back), button(t('panel.stop.else.go_on'), follow, { kind: 'primary', mark: 'switch' })));
	return stopped(t('panel.stop.else.title'), () => body);
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
	const back = () => (me && unsaved() ? fill(body, signInPlace('elsewhere', me)) : leave('elsewhere', me));
	const body = h('div',
		h('p.dialog-text', t('panel.stop.elsewhere.text', { here, there: there && there !== here ? there : t('panel.stop.elsewhere.another') })),
		h('div.actions.end', button(t('panel.stop.elsewhere.back', { here }), back), there !== here && there && button(t('panel.stop.elsewhere.follow', { there }), follow, { kind: 'primary', mark: 'switch' })));
	const waits = stopped(t('panel.stop.elsewhere.title'), () => body);
	stop.there = there;
	return waits;
}
