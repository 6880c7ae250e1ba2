// Proving an address: one button, because opening the link must not be enough. What links that are used up or incomplete look
// like stands here too.

import { guest } from '../api.js';
import { fill, h, icon } from '../dom.js';
import { form, linkButton } from '../ui.js';

/** The page. */
export function verify(body, said, retitle) {
  if (!said.org || !said.token) return deadLink(body, retitle, 'Open the link in the mail again, or ask for a new one in your account.');
  const element = form({
    fields: [],
    submit: 'Verify this address',
    onsubmit: async () => {
      const { message } = await guest('POST', '/auth/verify-email', said.org, { token: said.token });
      retitle('Thank you');
      finished(body, [message], linkButton('Go to your account', './#/profile', 'primary'));
    },
  });
  fill(body, h('p', { class: 'lead' }, 'With this button you say that the mail reached you.'), element);
  element.send.focus();
}

/** It is done. */
export function finished(body, text, ...actions) {
  fill(body, h('div', { class: 'finished' }, icon('check'), h('p', { class: 'lead', role: 'status' }, ...text)), h('div', { class: 'actions' }, actions));
  body.closest('.sheet')?.querySelector('h1').focus();
}

/** A link that leads nowhere. */
export function deadLink(body, retitle, text, title = 'This link is not complete') {
  retitle(title);
  fill(body, h('p', { class: 'lead' }, text), h('div', { class: 'actions' }, linkButton('Sign in', 'sign-in')));
}
