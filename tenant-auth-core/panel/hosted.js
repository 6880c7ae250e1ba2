// The pages that people without a session see: signing in, and where mailed links lead. A link's token comes in the fragment, is
// taken off the address at once, and is sent only when its page's button is pressed: whoever merely opens a link uses nothing up.

import { fill, h } from './dom.js';
import { changeEmail } from './hosted/change-email.js';
import { invite } from './hosted/invite.js';
import { forgot, reset } from './hosted/password.js';
import { signIn } from './hosted/sign-in.js';
import { verify } from './hosted/verify.js';

const PAGES = {
  'sign-in': ['Sign in', signIn],
  invite: ['Accept your invitation', invite],
  forgot: ['Forgot your password?', forgot],
  reset: ['Choose a new password', reset],
  verify: ['Verify your email address', verify],
  'change-email': ['Confirm your new email address', changeEmail],
};

function show() {
  const [title, page] = PAGES[location.pathname.split('/').at(-1)] ?? PAGES['sign-in'];
  const said = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  if (location.hash) history.replaceState(null, '', location.pathname);
  document.title = `${title} · Tenant Auth`;
  const body = h('div', { class: 'sheet-body' });
  const heading = h('h1', { tabindex: '-1' }, title);
  fill(document.getElementById('page'),
    h('div', { class: 'sheet' },
      h('a', { class: 'brand', href: './' }, h('img', { src: 'assets/logo.svg', alt: '', width: 32, height: 32 }), 'Tenant Auth'),
      heading, body));
  const retitle = (text) => {
    heading.textContent = text;
    document.title = `${text} · Tenant Auth`;
  };
  page(body, said, retitle);
}

// Another link may be opened in the same tab; that changes nothing but the fragment.
addEventListener('hashchange', () => location.hash && show());
show();
