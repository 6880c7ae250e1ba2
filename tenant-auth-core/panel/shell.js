// The frame around every view: where one is, where one can go, who is signed in. On narrow screens the navigation folds away
// behind a button.

import { fill, h, icon } from './dom.js';
import { busy, toast } from './ui.js';

/** The frame; `show(view, content, first)` puts a view into it and moves the focus there, but for the first. */
export function shell(context, views) {
  const main = h('main', { id: 'main', tabindex: '-1' });
  const links = new Map();
  const link = (view) => {
    const element = h('a', { href: `#/${view.path}` }, icon(view.mark), view.title);
    links.set(view.path, element);
    return h('li', {}, element);
  };
  const groups = [...new Set(views.map((view) => view.group))].map((group) => [
    h('h2', {}, group),
    h('ul', {}, views.filter((view) => view.group === group).map(link)),
  ]);
  const toggle = h('button', { type: 'button', class: 'menu', 'aria-expanded': 'false', 'aria-controls': 'side', 'aria-label': 'Menu' }, icon('menu'));
  const leave = h('button', { type: 'button', class: 'side-action' }, icon('out'), h('span', {}, 'Sign out'));
  leave.addEventListener('click', () => busy(leave, () => context.signOut().catch((error) => toast(error.message))));
  const organization = h('div', { class: 'org' },
    h('span', { class: 'avatar', 'aria-hidden': 'true' }, context.org.name.slice(0, 1).toUpperCase()),
    h('div', {}, h('strong', {}, context.org.name), h('small', {}, context.org.slug)),
    h('a', { href: 'sign-in', class: 'round', title: 'Switch organization', 'aria-label': 'Switch organization' }, icon('switch')));
  const person = h('div', { class: 'person' }, h('strong', {}, context.user.name), h('small', {}, context.user.email));
  const side = h('div', { class: 'side', id: 'side' }, organization, h('nav', { 'aria-label': 'Panel' }, groups), h('div', { class: 'side-end' }, person, leave));
  const unfold = (open) => {
    frame.classList.toggle('unfolded', open);
    toggle.setAttribute('aria-expanded', String(open));
  };
  toggle.addEventListener('click', () => unfold(!frame.classList.contains('unfolded')));
  const top = h('header', { class: 'top' },
    h('a', { class: 'brand', href: '#/members' }, h('img', { src: 'assets/logo.svg', alt: '', width: 28, height: 28 }), 'Tenant Auth'), toggle);
  const skip = h('a', { class: 'skip', href: '#main' }, 'Skip to content');
  skip.addEventListener('click', (event) => {
    event.preventDefault();
    main.focus();
  });
  const frame = h('div', { class: 'frame' }, skip, h('div', { class: 'rail' }, top, side), main);
  frame.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !frame.classList.contains('unfolded')) return;
    unfold(false);
    toggle.focus();
  });
  return Object.assign(frame, {
    show(view, content, first) {
      links.forEach((element) => element.removeAttribute('aria-current'));
      links.get(view.path)?.setAttribute('aria-current', 'page');
      unfold(false);
      fill(main, content);
      scrollTo(0, 0);
      if (!first) main.querySelector('h1')?.focus();
    },
  });
}
