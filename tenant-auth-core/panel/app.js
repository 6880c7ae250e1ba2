// The panel, from view to view, while the session lasts. The service refuses what the panel hides.

import { sheet } from './hosted.js';
import { api, busy, button, fill, guest, h, hear, is, linkButton, notice, open, tell, whenSessionIsLost } from './kit.js';
import { shell } from './shell.js';
import { chooseSlug, currentSlug, forget, keepPlace, lastSlug, remember } from './store.js';
import { audit } from './views/audit.js';
import { invites } from './views/invites.js';
import { keys } from './views/keys.js';
import { members } from './views/members.js';
import { operator } from './views/operator.js';
import { profile } from './views/profile.js';
import { security } from './views/security.js';
import { sessions } from './views/sessions.js';
import { settings } from './views/settings.js';
import { webhook } from './views/webhook.js';
import { webhooks } from './views/webhooks.js';

const everybody = () => true;
const admins = (context) => context.isAdmin;
const operators = (context) => context.user.role === 'admin';

// Path, title, group, who sees it, its view, and the view of what the path's second part names.
const VIEWS = [
	['members', 'Members', 'Organization', everybody, members],
	['invites', 'Invites', 'Organization', admins, invites],
	['api-keys', 'API keys', 'Organization', admins, keys],
	['webhooks', 'Webhooks', 'Organization', admins, webhooks, webhook],
	['audit', 'Audit log', 'Organization', admins, audit],
	['settings', 'Settings', 'Organization', everybody, settings],
	['profile', 'Profile', 'Your account', everybody, profile],
	['security', 'Security', 'Your account', everybody, security],
	['sessions', 'Sessions', 'Your account', everybody, sessions],
	['operator', 'Organizations', 'Operator', operators, operator],
].map(([path, title, group, may, view, detail = view]) => ({ path, title, group, may, view, detail }));

let root;

export function panel(element) {
	root = element;
	keepPlace('');
	const slug = currentSlug();
	if (!slug) return location.replace('sign-in');
	chooseSlug(slug);
	whenSessionIsLost((error) => (is(error, 'wrong_organization') ? elsewhere() : signInAgain()));
	hear((what, where) => {
		const here = where === currentSlug();
		if (what === 'signed-out' && here) location.assign('sign-in');
		if (what === 'signed-in' && !here) elsewhere(where);
		// It may show a secret.
		if (what === 'signed-in' && here && !document.querySelector('dialog[open]')) start();
	});
	// Its session may be over.
	addEventListener('pageshow', (event) => event.persisted && location.reload());
	fill(root, h('div.splash', { role: 'status', 'aria-label': 'Loading' }, h('img', { src: 'assets/logo.svg', alt: '', width: 48, height: 48 })));
	return start(true);
}

async function start(isFirst) {
	try {
		const [{ user }, { org }] = await Promise.all([api('GET', '/auth/profile'), api('GET', '/org')]);
		remember(org.slug, org.name);
		// Only admins are shown the allowed origins: that is how the API says who asks.
		run({ user, org, isAdmin: 'allowedOrigins' in org, signOut, refresh: () => start() }, isFirst);
	} catch (error) {
		if (is(error, 'unknown_organization', 'invalid_slug')) {
			forget(currentSlug());
			return location.assign('sign-in');
		}
		standstill(error);
	}
}

function run(context, isFirst) {
	const views = VIEWS.filter((view) => view.may(context));
	const frame = shell(context, views);
	fill(root, frame);
	const show = (moveFocus) => {
		const [, path, detail] = location.hash.split('/');
		const found = views.find((view) => view.path === path) ?? views[0];
		document.querySelectorAll('dialog[open]').forEach((dialog) => dialog.close());
		document.title = `${found.title} · ${context.org.name}`;
		frame.show(found, found[detail ? 'detail' : 'view']({ ...context, detail }), moveFocus);
	};
	onhashchange = () => show(true);
	show(!isFirst);
}

async function signOut() {
	const slug = currentSlug();
	await guest('POST', '/auth/logout', slug).catch((error) => {
		if (!is(error, 'session_required', 'wrong_organization')) throw error; // else there was nothing to end
	});
	tell('signed-out', slug);
	location.assign('sign-in');
}

// Nothing can be shown: the API is away, or refuses this member.
function standstill(error) {
	const say = notice();
	const leave = button('Sign out', () => busy(leave, () => signOut().catch(say.fail)));
	const isFinal = is(error, 'suspended');
	sheet(root, isFinal ? 'Access is suspended' : 'The panel cannot be shown', say,
		h('div.actions', !isFinal && button('Try again', () => start(true), { kind: 'primary' }), leave, linkButton('Switch organization', 'sign-in')));
	say.fail(error);
}

function signInAgain() {
	keepPlace(location.hash);
	location.assign(`sign-in#${new URLSearchParams({ org: currentSlug() })}`);
}

// A browser has one session, and another tab opened it in another organization.
function elsewhere(there = lastSlug()) {
	if (document.querySelector('.elsewhere')) return;
	const here = currentSlug();
	const follow = () => {
		chooseSlug(there);
		location.replace('./');
	};
	const dialog = open('Signed in to another organization', () => [
		h('p.dialog-text', `Another tab of this browser signed in to ${there === here ? 'another organization' : there}, so this one can no longer show ${here}.`),
		h('div.actions.end', button(`Sign in to ${here}`, signInAgain), there !== here && there && button(`Switch to ${there}`, follow, { kind: 'primary', mark: 'switch' })),
	]);
	dialog.classList.add('elsewhere');
	dialog.querySelector('.round').remove();
	dialog.addEventListener('cancel', (event) => event.preventDefault());
}
