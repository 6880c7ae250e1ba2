// Enrolling a second factor: confirm the password, scan the picture, enter a first code, keep the recovery codes. Nothing is in
// force before the first code was accepted.

import { api } from '../api.js';
import { ask, open } from '../dialogs.js';
import { fill, h } from '../dom.js';
import { button, copy, field, form, toast } from '../ui.js';

const passwordField = () => field({ label: 'Your password', name: 'password', type: 'password', autocomplete: 'current-password' });
const codeField = (hint) => field({ label: 'Code', name: 'code', autocomplete: 'one-time-code', autocapitalize: 'none', spellcheck: 'false', hint });
const AT = { wrong_password: 'password', wrong_code: 'code' };

/** Turns it on. */
export function enrol(context, done) {
  open('Turn on two-factor authentication', (dialog) => {
    const box = h('div', {});
    const password = passwordField();
    fill(box, h('p', { class: 'dialog-text' }, 'You need an authenticator app, such as the one your password manager has.'), form({
      fields: [password], submit: 'Continue', at: AT,
      extra: [button('Cancel', () => dialog.close())],
      onsubmit: async () => scan(dialog, box, await api('POST', '/auth/2fa/setup', { password: password.value }), context, done),
    }));
    return box;
  });
}

function scan(dialog, box, { secret, qrCode }, context, done) {
  const code = codeField('The 6 digits the app shows now.');
  code.input.inputMode = 'numeric';
  fill(box,
    h('ol', { class: 'steps' },
      h('li', {}, h('p', {}, 'Scan this picture with the app.'), h('img', { class: 'qr', src: qrCode, alt: 'QR code for your authenticator app', width: 200, height: 200 }),
        h('details', {}, h('summary', {}, 'I cannot scan it'), h('p', {}, 'Enter this key in the app instead:'), h('code', { class: 'secret-key' }, secret.match(/.{1,4}/g).join(' ')), button('Copy key', () => copy(secret), { kind: 'small', mark: 'copy' }))),
      h('li', {}, h('p', {}, 'Enter the code that it shows.'), form({
        fields: [code], submit: 'Turn on', at: AT,
        extra: [button('Cancel', () => dialog.close())],
        onsubmit: async () => {
          const { recoveryCodes } = await api('POST', '/auth/2fa/enable', { code: code.value.replace(/\s/g, '') });
          dialog.close();
          done();
          showCodes(recoveryCodes, context);
        },
      }))));
  code.input.focus();
}

/** Shows recovery codes, once; to be copied, downloaded or printed. */
function showCodes(codes) {
  const text = `Recovery codes for Tenant Auth\nEach one works once, in place of a code from your authenticator.\n\n${codes.join('\n')}\n`;
  const dialog = open('Keep your recovery codes', (self) => {
    const download = () => {
      const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
      h('a', { href: url, download: 'recovery-codes.txt' }).click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
    };
    return h('div', {},
      h('p', { class: 'dialog-text' }, 'Each of these works once, when your authenticator is not at hand. Without them and without it, only an operator can let you in again.'),
      h('ul', { class: 'codes' }, codes.map((code) => h('li', {}, h('code', {}, code)))),
      h('p', { class: 'notice wait' }, 'This is the only time they are shown.'),
      h('div', { class: 'actions' },
        button('Copy', () => copy(text), { mark: 'copy' }), button('Download', download), button('Print', () => print()),
        button('I have stored them', () => self.close(), { kind: 'primary' })));
  });
  dialog.classList.add('printable');
  dialog.addEventListener('cancel', (event) => event.preventDefault());
}

/** Replaces the recovery codes. */
export function renewCodes(done) {
  const [password, code] = [passwordField(), codeField('From your authenticator, or one of the old recovery codes.')];
  ask({
    title: 'New recovery codes', text: 'The old ones stop working.', fields: [password, code], submit: 'Make new codes', at: AT,
    onsubmit: async (dialog) => {
      const { recoveryCodes } = await api('POST', '/auth/2fa/recovery-codes', { password: password.value, code: code.value.trim() });
      dialog.close();
      done();
      showCodes(recoveryCodes);
    },
  });
}

/** Turns it off. */
export function disable(done) {
  const [password, code] = [passwordField(), codeField('From your authenticator, or a recovery code.')];
  ask({
    title: 'Turn off two-factor authentication?', text: 'From then on the password alone opens your account. Every other session of yours ends.',
    fields: [password, code], submit: 'Turn off', kind: 'danger', at: AT,
    onsubmit: async (dialog) => {
      const { message } = await api('POST', '/auth/2fa/disable', { password: password.value, code: code.value.trim() });
      dialog.close();
      toast(message);
      done();
    },
  });
}
