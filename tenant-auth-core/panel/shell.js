// The frame around every view. On narrow screens its navigation folds away behind a button.

import { brand } from './hosted.js';
import { busy, fill, h, icon, toast } from './kit.js';

export function shell({ org, user, signOut }, views) {
	const main = h('main', { tabindex: '-1' });
	const links = new Map(views.map((view) => [view, h('a', { href: `#/${view.path}` }, icon(view.path), view.title)]));
	const groups = Map.groupBy(views, (view) => view.group);
	const nav = h('nav', { 'aria-label': 'Panel' }, [...groups].map(([group, list]) => [h('h2', group), h('ul', list.map((view) => h('li', links.get(view))))]));
	const leave = h('button.side-action', { onclick: () => busy(leave, () => signOut().catch((error) => toast(error.message))) }, icon('out'), 'Sign out');
	const toggle = h('button.menu', { 'aria-expanded': 'false', 'aria-label': 'Menu', onclick: () => unfold(!frame.classList.contains('unfolded')) }, icon('menu'));
	const side = h('div.side',
		h('div.org', h('span.avatar', { 'aria-hidden': 'true' }, org.name.slice(0, 1)), h('div', h('strong', org.name), h('small', org.slug)),
			h('a.round', { href: 'sign-in', title: 'Switch organization' }, icon('switch'))),
		nav,
		h('div.side-end', h('div.person', h('strong', user.name), h('small', user.email)), leave));
	const frame = h('div.frame', h('button.skip', { onclick: () => main.focus() }, 'Skip to content'), h('header.rail', h('div.top', brand('#/members'), toggle), side), main);
	const unfold = (isOpen) => {
		frame.classList.toggle('unfolded', isOpen);
		toggle.setAttribute('aria-expanded', String(isOpen));
	};
	frame.addEventListener('keydown', (event) => {
		if (event.key !== 'Escape' || !frame.classList.contains('unfolded')) return;
		unfold(false);
		toggle.focus();
	});
	return Object.assign(frame, {
		show(view, content, moveFocus) {
			links.forEach((link) => link.removeAttribute('aria-current'));
			links.get(view).setAttribute('aria-current', 'page');
			unfold(false);
			fill(main, content);
			scrollTo(0, 0);
			if (moveFocus) main.querySelector('h1')?.focus();
		},
	});
}
