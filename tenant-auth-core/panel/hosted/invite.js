// Accepting an invite. The page first looks at the invite, which uses nothing up; what it then asks for depends on whether the
// address has an account. Role and address are the invite's, whoever opens the link.

import { guest, is, tell } from '../api.js';
import { fill, h } from '../dom.js';
import { moment, roleName } from '../format.js';
import { signedIn } from '../store.js';
import { field, form, linkButton, loading } from '../ui.js';
import { secondStep } from './sign-in.js';
import { deadLink } from './verify.js';

/** The page; `said` holds the organization and the token. */
export function invite(body, said, retitle) {
  if (!said.org || !said.token) return deadLink(body, retitle, 'Open the link in your invitation mail.');
  const look = () => guest('POST', '/org/invites/preview', said.org, { token: said.token });
  const patient = async () => {
    try {
      return await look();
    } catch (error) {
      if (is(error, 'invalid_invite', 'unknown_organization', 'invalid_slug', 'invalid_request')) return null;
      throw error;
    }
  };
  const render = (found) => {
    const box = h('div', {});
    if (found) offer(box, said, found, retitle);
    else deadLink(box, retitle, 'Invitations are good for a limited time and for one use. Ask an administrator of the organization to send a new one.', 'This invitation is no longer valid');
    return box;
  };
  fill(body, loading(patient, render));
}

function offer(body, said, { invite: invited, org }, retitle) {
  retitle(`Join ${org.name}`);
  const person = [
    h('p', { class: 'lead' }, `You are invited to ${org.name} as `, h('strong', {}, roleName(invited.role).toLowerCase()), ' with the address ',
      h('strong', {}, invited.email), '. The invitation is good until ', moment(invited.expiresAt), '.'),
  ];
  const name = field({ label: 'Your name', name: 'name', autocomplete: 'name', maxlength: 100 });
  const hidden = h('input', { type: 'email', name: 'username', value: invited.email, autocomplete: 'username', hidden: true, readOnly: true });
  const password = field({ label: 'Choose a password', name: 'password', type: 'password', autocomplete: 'new-password', hint: 'At least 8 characters, and none that is easily guessed.' });
  const done = (data) => {
    signedIn(org.slug, org.name);
    tell('signed-in', org.slug);
    welcome(body, org, data?.org?.appUrl, retitle);
  };
  const accept = async (registration) => {
    const path = `/org/invites/${encodeURIComponent(said.token)}/accept`;
    try {
      const data = await guest('POST', path, org.slug, registration);
      if (data.requires2FA) return secondStep(body, org.slug, done, () => offer(body, said, { invite: invited, org }, retitle));
      done(data);
    } catch (error) {
      if (!is(error, 'account_exists')) throw error;
      offer(body, said, { invite: { ...invited, accountExists: true }, org }, retitle); // it was made while this page was open
    }
  };
  const element = invited.accountExists
    ? form({ fields: [], submit: `Join ${org.name}`, onsubmit: () => accept(undefined) })
    : form({ fields: [name, hidden, password], submit: `Create account and join`, at: { weak_password: 'password' }, onsubmit: () => accept({ name: name.value, password: password.value }) });
  const note = invited.accountExists && h('p', { class: 'hint' }, 'You have an account already; it gets another organization. Name and password stay as they are.');
  fill(body, person, note, element);
}

function welcome(body, org, appUrl, retitle) {
  retitle(`Welcome to ${org.name}`);
  fill(body,
    h('p', { class: 'lead' }, 'You are a member now, and signed in.'),
    h('div', { class: 'actions' },
      appUrl && linkButton(`Open ${org.name}`, appUrl, 'primary', { rel: 'noreferrer' }),
      linkButton('Go to your account', './', appUrl ? '' : 'primary')));
  body.closest('.sheet')?.querySelector('h1').focus();
}
