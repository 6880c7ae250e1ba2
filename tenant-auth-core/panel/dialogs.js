// Questions before something that cannot be undone, small forms, and secrets that are shown once. All are the browser's own
// modal dialogs: the keyboard stays inside, Escape leaves, and the focus returns to where it was. A closed dialog is gone from
// the page with everything it showed.

import { h, icon, uid } from './dom.js';
import { busy, button, copy, form, notice } from './ui.js';

/** Opens a dialog; `close()` takes it away. `content` gets the dialog, to close it. */
export function open(title, content, { wide = false, onclose } = {}) {
  const [id, back] = [uid(), document.activeElement];
  const close = h('button', { type: 'button', class: 'close', 'aria-label': 'Close', onclick: () => dialog.close() }, icon('close'));
  const dialog = h('dialog', { class: wide ? 'wide' : null, 'aria-labelledby': id });
  dialog.append(h('header', {}, h('h2', { id }, title), close), h('div', { class: 'dialog-body' }, content(dialog)));
  dialog.addEventListener('close', () => {
    const toasts = dialog.querySelector('#toasts');
    if (toasts) document.body.append(toasts);
    dialog.querySelectorAll('input, textarea').forEach((input) => (input.value = ''));
    dialog.replaceChildren();
    dialog.remove();
    if (document.activeElement === document.body) (back?.isConnected ? back : document.querySelector('h1'))?.focus();
    onclose?.();
  });
  document.body.append(dialog);
  dialog.showModal();
  dialog.querySelector('[autofocus], .dialog-body input, .dialog-body select, .dialog-body textarea')?.focus();
  return dialog;
}

/** Asks before something destructive; `run` does it, and a refusal is shown in the question. */
export function confirm({ title, text, action, kind = 'danger', run }) {
  return open(title, (dialog) => {
    const say = notice();
    const yes = button(action, () => busy(yes, () => run().then(() => dialog.close(), say.fail)), { kind });
    const no = button('Cancel', () => dialog.close(), { autofocus: true });
    return h('div', {}, h('div', { class: 'dialog-text' }, text), say, h('div', { class: 'actions end' }, no, yes));
  });
}

/** A form in a dialog. `onsubmit` gets the dialog to close when it is done. */
export function ask({ title, text, onsubmit, wide, ...rest }) {
  return open(title, (dialog) => {
    const cancel = button('Cancel', () => dialog.close());
    const element = form({ ...rest, extra: [cancel], onsubmit: () => onsubmit(dialog) });
    return h('div', {}, text && h('div', { class: 'dialog-text' }, text), element);
  }, { wide });
}

/** Shows a secret, once: nobody can ask for it again. Escape waits until it was copied. */
export function showOnce({ title, text, label, secret, onclose }) {
  let copied = false;
  const dialog = open(title, (self) => {
    const id = uid();
    const input = h('input', { id, class: 'secret', value: secret, readOnly: true, spellcheck: 'false', autocomplete: 'off', onfocus: () => input.select() });
    const take = button('Copy', async () => (copied = (await copy(secret)) || copied), { kind: 'primary', mark: 'copy' });
    const done = button('I have stored it', () => self.close());
    return h('div', {},
      h('div', { class: 'dialog-text' }, text),
      h('div', { class: 'field' }, h('label', { for: id }, label), h('div', { class: 'with-button' }, input, take)),
      h('p', { class: 'notice wait' }, 'This is the only time it is shown. Keep it where your other secrets are.'),
      h('div', { class: 'actions end' }, done));
  }, { onclose });
  dialog.addEventListener('cancel', (event) => copied || event.preventDefault());
  return dialog;
}
