// A forgotten password: asking for a link, and using it. Whether an address belongs to a member is nobody's business, so the
// first page answers everybody alike.

import { guest } from '../api.js';
import { fill, h } from '../dom.js';
import { currentSlug } from '../store.js';
import { field, form, linkButton } from '../ui.js';
import { deadLink, finished } from './verify.js';

/** Asks for a link. */
export function forgot(body, said, retitle) {
  const slug = field({ label: 'Organization', name: 'org', value: said.org ?? currentSlug() ?? '', autocomplete: 'organization', autocapitalize: 'none', spellcheck: 'false' });
  const email = field({ label: 'Email address', name: 'email', type: 'email', value: said.email ?? '', autocomplete: 'username' });
  const back = linkButton('Back to sign in', 'sign-in');
  const element = form({
    fields: [slug, email],
    submit: 'Send me a link',
    extra: [back],
    at: { unknown_organization: 'org', invalid_slug: 'org' },
    onsubmit: async () => {
      const { message } = await guest('POST', '/auth/forgot-password', slug.value, { email: email.value });
      retitle('Look into your mail');
      finished(body, [message, ' The link is good for 30 minutes.'], linkButton('Back to sign in', 'sign-in'));
    },
  });
  fill(body, h('p', { class: 'lead' }, 'We mail you a link with which you choose a new one.'), element);
  (slug.value ? email : slug).input.focus();
}

/** Uses a link. */
export function reset(body, said, retitle) {
  if (!said.org || !said.token) return deadLink(body, retitle, 'Open the link in the mail again, or ask for a new one.');
  const password = field({ label: 'New password', name: 'newPassword', type: 'password', autocomplete: 'new-password', hint: 'At least 8 characters, and none that is easily guessed.' });
  const element = form({
    fields: [password],
    submit: 'Set the new password',
    at: { weak_password: 'newPassword' },
    extra: [linkButton('Ask for a new link', `forgot#${new URLSearchParams({ org: said.org })}`)],
    onsubmit: async () => {
      const { message } = await guest('POST', '/auth/reset-password', said.org, { token: said.token, newPassword: password.value });
      retitle('Your password was changed');
      finished(body, [message], linkButton('Sign in', `sign-in#${new URLSearchParams({ org: said.org })}`, 'primary'));
    },
  });
  fill(body, h('p', { class: 'lead' }, 'Every session of yours ends, on every device and in every organization.'), element);
  password.input.focus();
}
