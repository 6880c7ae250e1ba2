// Confirming a new address. The link works only in a live session of the account that asked for it; who has none signs in right
// here, so that the link is not lost on the way.

import { api, is } from '../api.js';
import { fill, h } from '../dom.js';
import { form, linkButton } from '../ui.js';
import { signInForm } from './sign-in.js';
import { deadLink, finished } from './verify.js';

/** The page. */
export function changeEmail(body, said, retitle) {
  if (!said.org || !said.token) return deadLink(body, retitle, 'Open the link in the mail again, or ask for a new one in your account.');
  const ask = () => {
    const element = form({
      fields: [],
      submit: 'Use this address',
      onsubmit: async () => {
        try {
          const { message } = await api('POST', '/auth/change-email/confirm', { token: said.token }, { slug: said.org });
          retitle('Your address was changed');
          finished(body, [message], linkButton('Go to your account', './#/profile', 'primary'));
        } catch (error) {
          if (!is(error, 'session_required', 'wrong_organization')) throw error;
          signInFirst();
        }
      },
    });
    fill(body, h('p', { class: 'lead' }, 'Your account gets the address this mail was sent to. Every other session of yours ends.'), element);
    element.send.focus();
  };
  const signInFirst = () => {
    const box = h('div', {});
    fill(body, h('p', { class: 'lead', role: 'status' }, `Sign in to “${said.org}” first, with the account whose address is to change.`), box);
    signInForm(box, { org: said.org, fixed: true, onsignedin: ask });
  };
  ask();
}
