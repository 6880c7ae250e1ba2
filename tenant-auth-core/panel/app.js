// The panel, from view to view, while the session lasts. Who is signed in, the frame and the view are three things: learning again
// who it is changes names in the frame, and never what somebody is working on. The service refuses what the panel hides.

import { sheet } from './hosted.js';
import {
	api, askBeforeUnload, askToDiscard, busy, button, closeDialogs, fill, forgive, guest, h, hear, is, linkButton, notice, place, rewrite, tell, toast, topDialog, travel,
	unsaved, waiting, whenRightIsMissing, whenSessionIsLost,
} from './kit.js';
import { PRODUCT } from './product.js';
import { shell } from './shell.js';
import { elsewhere, goOn, sessionOver, somebodyElse } from './stops.js';
import { chooseSlug, currentSlug, forget, keepPlace, remember, setSignedInAs, toSignIn } from './store.js';
import { apart, t } from './text.js';
import { VIEWS } from './views.js';
import { membersAhead } from './views/members.js';

let root;
let frame = null;
let me = null; // `{user, org, isAdmin}`, once it is known

export function panel(element) {
	root = element;
	const slug = currentSlug();
	keepPlace(slug ? '' : location.hash);
	if (!slug) return location.replace(toSignIn());
	chooseSlug(slug);
	whenSessionIsLost((error) => (is(error, 'wrong_organization') ? elsewhere(me) : sessionOver('ended', me)));
	whenRightIsMissing(() => me?.refresh());
	hear(heard);
	// Its session may be over.
	addEventListener('pageshow', (event) => event.persisted && location.reload());
	fill(root, waiting('.splash', t('loading'), h('img', { src: PRODUCT.logo, alt: '', height: 48 })));
	const { view, query } = place();
	if ((!view || view === 'members') && !Object.keys(query).length) membersAhead();
	return start();
}

function heard(what, where, person) {
	const isHere = where === currentSlug();
	if (what === 'signed-out' && isHere) sessionOver('signed-out', me);
	if (what === 'signed-in' && !isHere) elsewhere(me, where);
	if (what !== 'signed-in' || !isHere) return;
	if (!me) location.reload();
	else if (!person) me.refresh();
	else if (person !== me.user.id) somebodyElse(me);
	else goOn();
}

async function learn() {
	const [{ user, membership }, { org }] = await Promise.all([api('GET', '/auth/profile'), api('GET', '/org')]);
	remember(org.slug, org.name);
	setSignedInAs({ slug: org.slug, name: user.name, email: user.email });
	return { user, org, isAdmin: membership.role === 'org_admin' };
}

async function start() {
	try {
		me = { ...await learn(), signOut, refresh: () => relearn().catch(() => {}) };
	} catch (error) {
		if (!is(error, 'unknown_organization', 'invalid_slug')) return standstill(error);
		forget(currentSlug());
		return location.assign('sign-in');
	}
	frame = shell(signOut);
	frame.tell(me, mine());
	fill(root, frame);
	askBeforeUnload();
	travel(() => show(true), mayLeave);
	show(false);
}

const mine = () => VIEWS.filter((view) => view.may(me));

// The names and rights of who is signed in, again. A view that is no longer theirs is left.
async function relearn() {
	const next = await learn();
	if (next.user.id !== me.user.id) return somebodyElse(me);
	goOn();
	const isAdminAsBefore = next.isAdmin === me.isAdmin;
	const isSame = isAdminAsBefore && next.user.role === me.user.role;
	Object.assign(me, next);
	frame.tell(me, mine());
	if (isSame) return;
	if (!isAdminAsBefore) toast(me.isAdmin ? t('panel.app.admin') : t('panel.app.no_admin'));
	if (!unsaved()) show(true, true);
}

function show(moveFocus, isTold) {
	const [views, { view: path, detail, query }] = [mine(), place()];
	const known = VIEWS.find((view) => view.path === path);
	const found = views.includes(known) ? known : views[0];
	if (path && found !== known) {
		const isOfOperators = known?.path === 'operator';
		rewrite({}, `#/${found.path}`);
		if (!isTold) toast(known ? t(isOfOperators ? 'panel.app.for_operators' : 'panel.app.for_admins', { title: known.title }) : t('panel.app.no_page'));
	}
	document.title = `${found.title} · ${apart(me.org.name)}`;
	frame.show(found, found[found === known && detail ? 'detail' : 'view']({ ...me, detail: found === known ? detail : undefined, query }), moveFocus);
}

// Back and Forward leave a dialog first; a link in it leads on.
function mayLeave(isNew, next) {
	const dialog = topDialog();
	const isFirst = dialog && (!isNew || dialog.matches('.stop'));
	if (isFirst) dialog.leave('back');
	else if (unsaved()) askToDiscard(document, () => (closeDialogs(), setTimeout(next))); // dialogs put the address right as they close
	else closeDialogs();
	return !isFirst && !unsaved();
}

async function signOut() {
	if (unsaved()) return askToDiscard(document, signOut);
	const slug = currentSlug();
	await guest('POST', '/auth/logout', slug).catch((error) => {
		if (!is(error, 'session_required', 'wrong_organization')) throw error; // else there was nothing to end
	});
	forgive();
	setSignedInAs(null);
	tell('signed-out', slug);
	return location.assign('sign-in');
}

// Nothing can be shown: the API is away, or refuses this member.
function standstill(error) {
	const say = notice();
	const out = button(t('panel.shell.out'), () => busy(out, () => signOut().catch(say.fail)));
	const again = button(t('try_again'), () => busy(again, start), { kind: 'primary' });
	const isFinal = is(error, 'suspended');
	sheet(root, isFinal ? t('panel.app.suspended') : t('panel.app.broken'), say,
		h('div.actions', !isFinal && again, out, linkButton(t('panel.shell.switch'), 'sign-in')));
	say.fail(error);
}
