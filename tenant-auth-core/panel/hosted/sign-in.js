// Signing in: the organization, the address, the password, and the second factor of those who have one. Organizations that were
// signed in to before on this browser are offered.

import { guest, is, tell } from '../api.js';
import { fill, h, icon } from '../dom.js';
import { currentSlug, forget, knownOrganizations, signedIn, takePlace } from '../store.js';
import { button, field, form } from '../ui.js';

/** The page. `said` may name the organization and the address. */
export function signIn(body, said) {
  signInForm(body, {
    ...said,
    onsignedin: () => location.assign(`./${takePlace()}`),
  });
}

/** The form alone, for other pages that need a session first. */
export function signInForm(body, { org, email, fixed = false, onsignedin }) {
  const known = knownOrganizations();
  const slug = field({
    label: 'Organization', name: 'org', value: org ?? currentSlug() ?? '', autocomplete: 'organization', autocapitalize: 'none',
    spellcheck: 'false', pattern: '[a-z0-9]+(-[a-z0-9]+)*', minlength: 2, maxlength: 63, title: 'lower-case letters, digits and hyphens',
    hint: 'The short name in your invitation, such as “acme”.', readOnly: fixed,
  });
  const address = field({ label: 'Email address', name: 'email', type: 'email', value: email ?? '', autocomplete: 'username' });
  const password = field({ label: 'Password', name: 'password', type: 'password', autocomplete: 'current-password' });
  const done = () => {
    signedIn(slug.value);
    tell('signed-in', slug.value);
    onsignedin(slug.value);
  };
  const again = () => fill(body, choices, element);
  const element = form({
    fields: [slug, address, password],
    submit: 'Sign in',
    at: { unknown_organization: 'org', invalid_slug: 'org' },
    extra: [h('a', { href: 'forgot', class: 'aside', onclick: (event) => (event.currentTarget.hash = new URLSearchParams({ org: slug.value, email: address.value })) }, 'Forgot your password?')],
    onsubmit: async () => {
      const data = await guest('POST', '/auth/login', slug.value, { email: address.value, password: password.value });
      if (!data.requires2FA) return done();
      password.value = '';
      secondStep(body, slug.value, done, again);
    },
  });
  const choose = (one) => {
    slug.value = one.slug;
    slug.fail('');
    (address.value ? password : address).input.focus();
  };
  const choices = !fixed && known.length > 0 && knownList(known, choose);
  fill(body, choices, element);
  const first = [slug, address, password].find((one) => !one.value) ?? password;
  first.input.focus();
}

function knownList(known, choose) {
  const list = h('ul', { class: 'known' }, known.map((one) => {
    const drop = () => {
      forget(one.slug);
      item.remove();
      if (!list.firstChild) box.remove();
    };
    const item = h('li', {},
      h('button', { type: 'button', class: 'choice', onclick: () => choose(one) },
        h('span', { class: 'avatar', 'aria-hidden': 'true' }, one.name.slice(0, 1).toUpperCase()),
        h('span', {}, h('strong', {}, one.name), h('small', {}, one.slug))),
      h('button', { type: 'button', class: 'close', 'aria-label': `Forget ${one.name} on this browser`, onclick: drop }, icon('close')));
    return item;
  }));
  const box = h('section', { class: 'known-box', 'aria-label': 'Organizations on this browser' }, h('h2', {}, 'On this browser'), list);
  return box;
}

/** The second step of a login or an invite. */
export function secondStep(body, slug, done, again) {
  const code = field({
    label: 'Code', name: 'code', autocomplete: 'one-time-code', autocapitalize: 'none', spellcheck: 'false', maxlength: 40,
    hint: 'The 6 digits your authenticator shows now, or one of your recovery codes.',
  });
  const element = form({
    fields: [code],
    submit: 'Continue',
    extra: [button('Start again', again)],
    onsubmit: async () => {
      try {
        await guest('POST', '/auth/verify-2fa', slug, { code: code.value.trim() });
      } catch (error) {
        if (is(error, 'second_factor_failed')) code.input.select();
        throw error;
      }
      done();
    },
  });
  fill(body, h('p', { class: 'lead' }, 'Your account is protected by a second factor.'), element);
  code.input.focus();
}
