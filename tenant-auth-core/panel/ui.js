// The small parts that every view is made of. Messages of the API appear where they belong: at the field they name, else beside
// the button that was pressed; and what somebody typed is never taken away by a refusal.

import { ApiError } from './api.js';
import { fill, h, icon, uid } from './dom.js';

/** A button. `kind`: primary, danger, quiet or none; `mark` is an icon's name. */
export const button = (text, onclick, { kind = '', mark, ...rest } = {}) =>
  h('button', { type: 'button', class: `button ${kind}`, onclick, ...rest }, mark && icon(mark), h('span', {}, text));

/** A link that looks like a button. */
export const linkButton = (text, href, kind = '', rest = {}) => h('a', { class: `button ${kind}`, href, ...rest }, text);

/** A small coloured word; `tone`: good, bad, wait or none. */
export const badge = (text, tone = '') => h('span', { class: `badge ${tone}` }, text);

/** A place for one message; screen readers say it when it comes. */
export function notice() {
  const element = h('div', { class: 'notice', role: 'alert', hidden: true });
  let clock = null;
  const show = (tone, ...content) => {
    clearInterval(clock);
    element.className = `notice ${tone}`;
    element.hidden = false;
    fill(element, h('div', {}, ...content));
  };
  const wait = (seconds) => {
    const until = Date.now() + seconds * 1000;
    const left = h('strong', { class: 'count', 'aria-hidden': 'true' });
    const tick = () => {
      const rest = Math.ceil((until - Date.now()) / 1000);
      left.textContent = rest > 0 ? ` ${rest} s left.` : ' You can try again now.';
      if (rest <= 0) clearInterval(clock);
    };
    element.firstChild.append(left);
    tick();
    clock = setInterval(tick, 1000);
  };
  return Object.assign(element, {
    /** Shows what went wrong, and how long to wait where the API says so. */
    fail(error) {
      if (!(error instanceof ApiError)) console.error(error);
      const known = error instanceof ApiError;
      show('bad', known ? error.message : 'Something went wrong on this page. Reload it and try again.');
      if (known && error.retryAfter) wait(error.retryAfter);
    },
    /** Shows something else; `tone`: good, wait, bad or none. */
    say: show,
    clear() {
      clearInterval(clock);
      element.hidden = true;
      fill(element);
    },
  });
}

/**
 * A labelled input with a line below it that holds the hint, and the error when there is one. `type`: an input's type, or
 * textarea or select (`options`: [[value, text]]). Reading and writing go through `field.value`.
 */
export function field({ label, name, type = 'text', hint = '', options, value = '', optional = false, ...rest }) {
  const [id, note] = [uid(), h('p', { class: 'hint', id: uid() }, hint)];
  const shared = { id, name, 'aria-describedby': note.id, required: !optional, ...rest };
  let input;
  if (type === 'textarea') input = h('textarea', { rows: 4, spellcheck: 'false', ...shared, value });
  else if (type === 'select') input = h('select', shared, options.map(([key, text]) => h('option', { value: key, selected: key === value }, text)));
  else input = h('input', { type, ...shared, value });
  const caption = h('label', { for: id }, label, optional && h('span', { class: 'optional' }, ' optional'));
  const control = type === 'password' ? h('div', { class: 'reveal' }, input, eye(input)) : input;
  const element = h('div', { class: 'field' }, caption, control, note);
  const fail = (message) => {
    element.classList.toggle('wrong', Boolean(message));
    note.textContent = message || hint;
    if (message) input.setAttribute('aria-invalid', 'true');
    else input.removeAttribute('aria-invalid');
  };
  input.addEventListener('input', () => fail(''));
  Object.defineProperty(element, 'value', { get: () => input.value, set: (text) => (input.value = text) });
  return Object.assign(element, {
    input, fail,
    /** The browser's own complaint, shown in our place. */
    complains() {
      if (input.validity.valid) return false;
      fail(input.validity.valueMissing ? 'This is required.' : input.validationMessage);
      return true;
    },
  });
}

/** Shows what is typed into a password field. */
function eye(input) {
  const toggle = h('button', { type: 'button', class: 'eye', 'aria-pressed': 'false', 'aria-label': 'Show password' }, 'Show');
  toggle.addEventListener('click', () => {
    const shown = input.type === 'password';
    input.type = shown ? 'text' : 'password';
    toggle.setAttribute('aria-pressed', String(shown));
    toggle.textContent = shown ? 'Hide' : 'Show';
  });
  return toggle;
}

/** A box to tick. */
export function checkbox({ label, name, value = 'on', checked = false, hint }) {
  const input = h('input', { type: 'checkbox', name, value, checked });
  return Object.assign(h('label', { class: 'check' }, input, h('span', {}, label, hint && h('small', {}, hint))), { input });
}

/** Runs one thing at a time for a button, and shows that it runs. */
export async function busy(element, work) {
  if (element.getAttribute('aria-busy') === 'true') return;
  element.setAttribute('aria-busy', 'true');
  element.setAttribute('aria-disabled', 'true');
  try {
    return await work();
  } finally {
    element.removeAttribute('aria-busy');
    element.removeAttribute('aria-disabled');
  }
}

/**
 * A form of fields. `at` sends an error code's message to the field of that name; messages that name a field go there by
 * themselves. `check` may refuse before anything is sent, by answering a field's name and a message.
 */
export function form({ fields, submit, kind = 'primary', extra = [], at = {}, check, onsubmit }) {
  const say = notice();
  const send = h('button', { type: 'submit', class: `button ${kind}` }, h('span', {}, submit));
  const named = (name) => fields.find((one) => one.input?.name === name);
  const place = (target, message) => {
    target.fail(message);
    target.input.focus();
  };
  const fail = (error) => {
    const spoken = error instanceof ApiError ? error.message : '';
    const target = named(at[error.code]) ?? (error.code === 'invalid_request' && named(/^([\w.[\]]+): /.exec(spoken)?.[1]));
    if (target) place(target, spoken.replace(/^[\w.[\]]+: (.)/, (_, first) => first.toUpperCase()));
    else say.fail(error);
  };
  const element = h('form', { class: 'form', novalidate: true, method: 'post' }, ...fields, say, h('div', { class: 'actions' }, send, ...extra));
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    say.clear();
    const wrong = fields.filter((one) => one.complains?.());
    if (wrong.length) return wrong[0].input.focus();
    const refused = check?.();
    if (refused) return place(named(refused[0]), refused[1]);
    busy(send, () => Promise.resolve(onsubmit()).catch(fail));
  });
  return Object.assign(element, { say, send });
}

/** Says in passing that something was done. */
export function toast(text) {
  const region = document.getElementById('toasts') ?? document.body.appendChild(h('div', { id: 'toasts', role: 'status' }));
  const element = h('div', { class: 'toast' }, icon('check'), text);
  // A modal dialog covers everything that is not inside it.
  (document.querySelector('dialog[open]') ?? document.body).append(region);
  region.append(element);
  setTimeout(() => element.remove(), 5000);
}

/** Puts a text on the clipboard; says whether it worked. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast('Copied to the clipboard.');
    return true;
  } catch {
    toast('This browser did not allow copying. Select the text and copy it.');
    return false;
  }
}

/** Loads something and shows it: a quiet placeholder meanwhile, the error with a way to try again, then the content. */
export function loading(load, render, { lines = 3 } = {}) {
  const box = h('div', { class: 'loading-box' });
  const run = async () => {
    if (!box.firstChild || box.querySelector('.skeleton, .failed')) {
      const bars = Array.from({ length: lines }, () => h('div', { class: 'bar' }));
      fill(box, h('div', { class: 'skeleton', role: 'status', 'aria-label': 'Loading' }, bars));
    }
    box.setAttribute('aria-busy', 'true');
    try {
      const content = render(await load());
      fill(box, content);
    } catch (error) {
      const say = notice();
      fill(box, h('div', { class: 'failed' }, say, button('Try again', run)));
      say.fail(error);
    } finally {
      box.removeAttribute('aria-busy');
    }
  };
  const done = run();
  return Object.assign(box, { reload: run, done });
}

/** What is shown where there is nothing yet. */
export const empty = (mark, title, text, action) =>
  h('div', { class: 'empty' }, icon(mark), h('h3', {}, title), h('p', {}, text), action);

/** A table that turns into cards where it is narrow. Roles are stated: browsers forget them when the layout changes. */
export function table(caption, columns, rows) {
  const head = columns.map((column) => h('th', { role: 'columnheader', scope: 'col' }, column || h('span', { class: 'unseen' }, 'Actions')));
  const cell = (content, index) => h('td', { role: 'cell', 'data-label': columns[index] ?? '', class: columns[index] ? null : 'row-actions' }, content);
  const line = (cells) => h('tr', { role: 'row' }, cells.map(cell));
  return h('table', { role: 'table' },
    h('caption', { class: 'unseen' }, caption),
    h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, head)),
    h('tbody', { role: 'rowgroup' }, rows.map(line)));
}

/** A titled part of a view. */
export const card = (title, text, ...content) =>
  h('section', { class: 'card' }, h('header', {}, h('h2', {}, title), text && h('p', {}, text)), ...content);

/** Facts as a list of names and values. */
export const facts = (pairs) =>
  h('dl', { class: 'facts' }, pairs.filter(Boolean).map(([name, ...value]) => h('div', {}, h('dt', {}, name), h('dd', {}, ...value))));

/** The top of a view: its title, what it is for, and what can be done. */
export const heading = (title, text, ...actions) =>
  h('header', { class: 'view-head' }, h('div', {}, h('h1', { tabindex: '-1' }, title), text && h('p', {}, text)), h('div', { class: 'view-actions' }, actions));
