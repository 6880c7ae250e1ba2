// A person's own name, texts and address. A new address counts only once the link mailed to it was used.

import { api } from '../api.js';
import { ask } from '../dialogs.js';
import { h } from '../dom.js';
import { badge, busy, button, card, facts, field, form, heading, loading, notice, toast } from '../ui.js';

/** The view. */
export function profile(context) {
  return [
    heading('Profile', 'This is you in every organization you belong to.'),
    loading(() => api('GET', '/auth/profile'), ({ user }) => [about(context, user), address(user)]),
  ];
}

function about(context, user) {
  const name = field({ label: 'Name', name: 'name', value: user.name, maxlength: 100, autocomplete: 'name' });
  const bio = field({ label: 'Bio', name: 'bio', type: 'textarea', rows: 3, value: user.profile.bio ?? '', optional: true, maxlength: 1000 });
  const phone = field({ label: 'Phone', name: 'phone', type: 'tel', value: user.profile.phone ?? '', optional: true, maxlength: 32, autocomplete: 'tel' });
  return card('About you', null, form({
    fields: [name, bio, phone],
    submit: 'Save profile',
    onsubmit: async () => {
      // What is left out is removed.
      await api('PUT', '/auth/profile', { name: name.value, ...(bio.value && { bio: bio.value }), ...(phone.value && { phone: phone.value }) });
      toast('Your profile was saved.');
      if (name.value !== context.user.name) context.refresh();
    },
  }));
}

function address(user) {
  const say = notice();
  const send = button('Send verification mail', () => busy(send, () => api('POST', '/auth/verify-email/send').then(({ message }) => say.say('good', message), say.fail)));
  const verified = user.isEmailVerified ? badge('Verified', 'good') : badge('Not verified', 'wait');
  return card('Email address', 'You sign in with it, and notices about your account go there.',
    facts([['Address', h('span', { class: 'break' }, user.email, ' '), verified]]), say,
    h('div', { class: 'actions' }, button('Change address', changeAddress), !user.isEmailVerified && send));
}

async function changeAddress() {
  const enabled = await api('GET', '/auth/2fa').then((status) => status.enabled, () => false);
  const email = field({ label: 'New email address', name: 'newEmail', type: 'email', autocomplete: 'email' });
  const password = field({ label: 'Your password', name: 'password', type: 'password', autocomplete: 'current-password' });
  const code = field({ label: 'Code', name: 'code', autocomplete: 'one-time-code', hint: 'From your authenticator, or a recovery code.', optional: !enabled });
  ask({
    title: 'Change your email address',
    text: 'The new address gets a link that is good for 24 hours. Nothing changes until you use it.',
    fields: enabled ? [email, password, code] : [email, password],
    submit: 'Send link',
    at: { wrong_password: 'password', wrong_code: 'code' },
    onsubmit: async (dialog) => {
      const { message } = await api('POST', '/auth/change-email', { newEmail: email.value, password: password.value, ...(enabled && { code: code.value.trim() }) });
      dialog.close();
      toast(message);
    },
  });
}
