// The frame around every view. On narrow screens its navigation folds away behind a button.

import { brand } from './hosted.js';
import { busy, fill, focusTitle, h, icon, initial, toast } from './kit.js';
import { API } from './store.js';
import { t } from './text.js';
import { words } from './words.js';

// `tell` says who is signed in and what they may see; `show` puts a view in.
export function shell(signOut) {
	const main = h('main', { tabindex: '-1' });
	const side = h('div.side');
	const toggle = h('button.menu', { 'aria-expanded': 'false', 'aria-label': t('panel.shell.menu'), onclick: () => unfold(!frame.classList.contains('unfolded')) }, icon('menu'));
	const frame = h('div.frame', h('button.skip', { onclick: () => main.focus() }, t('panel.shell.skip')), h('header.rail', h('div.top', brand('#/members'), toggle), side), main);
	let links = new Map();
	let current = null;
	const unfold = (isOpen) => {
		frame.classList.toggle('unfolded', isOpen);
		toggle.setAttribute('aria-expanded', String(isOpen));
	};
	const mark = () => links.forEach((link, path) => (path === current ? link.setAttribute('aria-current', 'page') : link.removeAttribute('aria-current')));
	const fold = () => {
		if (!frame.classList.contains('unfolded')) return;
		unfold(false);
		toggle.focus();
	};
	frame.addEventListener('keydown', (event) => event.key === 'Escape' && fold());
	return Object.assign(frame, {
		tell({ org, user, isAdmin }, views) {
			links = new Map(views.map((view) => [view.path, h('a', { href: `#/${view.path}`, onclick: () => view.path === current && fold() }, icon(view.path), view.title)]));
			const groups = Map.groupBy(views, (view) => view.group);
			const leave = h('button.side-action', { onclick: () => busy(leave, () => Promise.resolve(signOut()).catch((error) => toast(words(error), true))) }, icon('out'), t('panel.shell.out'));
			fill(side,
				h('div.org', h('span.avatar', { 'aria-hidden': 'true' }, initial(org.name)), h('div', h('strong', h('bdi', org.name)), h('small', org.slug)),
					h('a.round', { href: 'sign-in', title: t('panel.shell.switch') }, icon('switch'))),
				h('nav', { 'aria-label': t('panel.shell.panel') }, [...groups].map(([group, list]) => [h('h2', group), h('ul', list.map((view) => h('li', links.get(view.path))))])),
				h('div.side-end', h('div.person', h('strong', h('bdi', user.name)), h('small', user.email)),
					isAdmin && h('a.side-action', { href: `${API}/docs` }, icon('docs'), t('panel.shell.docs')), leave));
			mark();
		},
		show(view, content, moveFocus) {
			current = view.path;
			mark();
			unfold(false);
			fill(main, content);
			scrollTo(0, 0);
			if (moveFocus) focusTitle();
		},
	});
}
