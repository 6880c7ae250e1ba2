// The panel: who is signed in and where, the way from view to view, and what happens when the session is lost. Views are told
// the person, the organization and the right they have, and ask the API for the rest; what somebody may not do is not shown,
// and would be refused anyway.

import { api, guest, hear, is, tell, whenSessionIsLost } from './api.js';
import { fill, h, icon } from './dom.js';
import { open } from './dialogs.js';
import { shell } from './shell.js';
import { chooseSlug, currentSlug, forget, keepPlace, lastSlug, remember } from './store.js';
import { button, busy, linkButton, notice } from './ui.js';
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

const member = () => true;
const admin = (context) => context.isAdmin;
const operating = (context) => context.user.role === 'admin';

// Path, title, group in the navigation, who sees it, the view. A path's second part, such as a webhook's id, is the view's.
const VIEWS = [
  ['members', 'Members', 'Organization', member, members],
  ['invites', 'Invites', 'Organization', admin, invites],
  ['api-keys', 'API keys', 'Organization', admin, keys, 'key'],
  ['webhooks', 'Webhooks', 'Organization', admin, webhooks, 'webhook', webhook],
  ['settings', 'Settings', 'Organization', member, settings],
  ['profile', 'Profile', 'Your account', member, profile],
  ['security', 'Security', 'Your account', member, security],
  ['sessions', 'Sessions', 'Your account', member, sessions],
  ['operator', 'Organizations', 'Operator', operating, operator],
].map(([path, title, group, may, view, mark = path, detail]) => ({ path, title, group, may, view, mark, detail }));

const signInPage = (hash = '') => location.assign(`sign-in${hash}`);

async function start() {
  const slug = currentSlug();
  if (!slug) return location.replace('sign-in');
  chooseSlug(slug);
  fill(document.body, h('div', { class: 'splash', role: 'status', 'aria-label': 'Loading' }, h('img', { src: 'assets/logo.svg', alt: '', width: 48, height: 48 })));
  try {
    const [{ user }, { org }] = await Promise.all([api('GET', '/auth/profile'), api('GET', '/org')]);
    remember(org.slug, org.name);
    run({ user, org });
  } catch (error) {
    if (is(error, 'unknown_organization', 'invalid_slug')) {
      forget(slug);
      return signInPage();
    }
    standstill(error);
  }
}

/** The panel of somebody who is signed in. */
function run({ user, org }) {
  // Only admins are shown the allowed origins: that they are there is the API's way of saying who asks.
  const context = { user, org, isAdmin: 'allowedOrigins' in org, signOut, refresh: start };
  const frame = shell(context, VIEWS.filter((view) => view.may(context)));
  fill(document.body, frame);
  let first = true;
  const show = () => {
    const [, path, detail] = location.hash.split('/');
    const found = VIEWS.find((view) => view.path === path && view.may(context)) ?? VIEWS[0];
    document.querySelectorAll('dialog[open]').forEach((dialog) => dialog.close());
    document.title = `${found.title} · ${context.org.name}`;
    const view = detail && found.detail ? found.detail : found.view;
    frame.show(found, view({ ...context, detail: detail && decodeURIComponent(detail) }), first);
    first = false;
  };
  onhashchange = show;
  show();
}

async function signOut() {
  const slug = currentSlug();
  try {
    await guest('POST', '/auth/logout', slug);
  } catch (error) {
    if (!is(error, 'session_required', 'wrong_organization')) throw error; // there was nothing to end
  }
  tell('signed-out', slug);
  keepPlace(null);
  signInPage();
}

/** Nothing can be shown: the API is away, or refuses this member. */
function standstill(error) {
  const say = notice();
  const leave = button('Sign out', () => busy(leave, () => signOut().catch(say.fail)));
  const suspended = is(error, 'suspended');
  fill(document.body, h('main', { class: 'hosted' }, h('div', { class: 'sheet' },
    h('h1', {}, suspended ? 'Access is suspended' : 'The panel cannot be shown'), say,
    h('div', { class: 'actions' }, !suspended && button('Try again', start, { kind: 'primary' }), leave, linkButton('Switch organization', 'sign-in')))));
  say.fail(error);
}

whenSessionIsLost((error) => {
  if (is(error, 'wrong_organization')) return elsewhere();
  keepPlace(location.hash);
  signInPage(`#${new URLSearchParams({ org: currentSlug() ?? '' })}`);
});

/** A browser has one session. Another tab opened one in another organization: say so, and offer both ways. */
function elsewhere() {
  if (document.querySelector('dialog.elsewhere')) return;
  const [here, there] = [currentSlug(), lastSlug()];
  const follow = () => {
    chooseSlug(there);
    location.hash = '';
    location.reload();
  };
  const back = () => {
    keepPlace(location.hash);
    signInPage(`#${new URLSearchParams({ org: here })}`);
  };
  const dialog = open('Signed in to another organization', () => h('div', {},
    h('p', { class: 'dialog-text' }, 'A browser is signed in to one organization at a time. In another tab it was signed in to ',
      there && there !== here ? h('strong', {}, there) : 'another one', ', so this tab can no longer show ', h('strong', {}, here), '.'),
    h('div', { class: 'actions end' },
      button(`Sign in to ${here}`, back),
      there && there !== here && button(`Switch to ${there}`, follow, { kind: 'primary', mark: 'switch' }))));
  dialog.classList.add('elsewhere');
  dialog.querySelector('.close').remove();
  dialog.addEventListener('cancel', (event) => event.preventDefault());
}

hear((what, slug) => {
  if (what === 'signed-out' && slug === currentSlug()) signInPage();
  if (what === 'signed-in' && slug !== currentSlug()) elsewhere();
});

start();
