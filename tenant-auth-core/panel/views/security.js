// What guards a person's account: the password and the second factor.

import { api } from '../api.js';
import { moment } from '../format.js';
import { badge, button, card, facts, field, form, heading, loading } from '../ui.js';
import { disable, enrol, renewCodes } from './two-factor.js';

/** The view. */
export function security(context) {
  return [heading('Security', 'What guards your account, in every organization you belong to.'), password(), secondFactor(context)];
}

function password() {
  const current = field({ label: 'Current password', name: 'currentPassword', type: 'password', autocomplete: 'current-password' });
  const next = field({ label: 'New password', name: 'newPassword', type: 'password', autocomplete: 'new-password', hint: 'At least 8 characters, and none that is easily guessed.' });
  const element = form({
    fields: [current, next],
    submit: 'Change password',
    at: { wrong_password: 'currentPassword', weak_password: 'newPassword' },
    onsubmit: async () => {
      const { message } = await api('POST', '/auth/change-password', { currentPassword: current.value, newPassword: next.value });
      current.value = next.value = '';
      element.say.say('good', message);
    },
  });
  return card('Password', 'A new password ends every other session of yours, everywhere.', element);
}

function secondFactor(context) {
  const box = loading(() => api('GET', '/auth/2fa'), (status) => (status.enabled ? on(status) : off()));
  const on = (status) => [
    facts([
      ['Status', badge('On', 'good')],
      ['Since', moment(status.enabledAt)],
      ['Recovery codes left', badge(String(status.recoveryCodesRemaining), status.recoveryCodesRemaining > 2 ? '' : 'bad')],
    ]),
    buttons(button('New recovery codes', () => renewCodes(box.reload)), button('Turn off', () => disable(box.reload), { kind: 'danger-quiet' })),
  ];
  const off = () => [facts([['Status', badge('Off')]]), buttons(button('Turn on', () => enrol(context, box.reload), { kind: 'primary' }))];
  return card('Two-factor authentication', 'A code from an app on your phone, asked for after the password.', box);
}

function buttons(...list) {
  const row = document.createElement('div');
  row.className = 'actions';
  row.append(...list);
  return row;
}
