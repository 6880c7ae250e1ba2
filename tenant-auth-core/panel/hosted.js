// The sign-in page and the pages of mailed links. A link's token is taken off the address at once and used only when a button is
// pressed: a mail scanner that opens the link uses nothing up.

import { fill, h } from './dom.js';
import { invite } from './hosted/invite.js';
import { changeEmail, verify } from './hosted/links.js';
import { forgot, reset } from './hosted/password.js';
import { to } from './hosted/next.js';
import { signIn } from './hosted/sign-in.js';
import { signUp } from './hosted/sign-up.js';
import { PRODUCT } from './product.js';
import { t } from './text.js';

// The page, and whether it needs a mailed link.
export const PAGES = {
	'sign-in': [signIn],
	invite: [invite, true],
	forgot: [forgot],
	reset: [reset, true],
	verify: [verify, true],
	'sign-up': [signUp],
	'change-email': [changeEmail, true],
};

export const brand = (href) => h('a.brand', { href }, h('img', { src: PRODUCT.logo, alt: '', height: 28 }), PRODUCT.name);

export function sheet(root, title, ...content) {
	document.title = `${title} · ${PRODUCT.name}`;
	fill(root, h('main.sheet', brand('./'), h('h1', { tabindex: '-1' }, title), content, PRODUCT.support && h('p.support', h('a', { href: PRODUCT.support }, t('help')))));
}

const LONGEST_NEXT = 2048;

// Shows a hosted page, which gets a place, what the fragment said, and `go`, which shows how it ended.
export function hosted(root, name, page, needsLink) {
	const body = h('div.sheet-body');
	const go = (next, text, ...actions) => {
		if (actions.length > 0) history.replaceState(null, '');
		sheet(root, next, fill(body, h('p.lead', text), actions.length > 0 && h('div.actions', actions)));
		root.querySelector('h1').focus();
	};
	const show = () => {
		const asked = [...new URLSearchParams(location.search), ...new URLSearchParams(location.hash.slice(1))];
		const said = { ...history.state?.said, ...Object.fromEntries(asked) };
		// A longer one would be refused with everything that the person typed.
		if ([...(said.next ?? '')].length > LONGEST_NEXT) delete said.next;
		// Loading the page again, or coming back to a tab that was put away, must not lose the link. What is not secret stays in the address.
		history.replaceState({ said }, '', to(location.pathname, { org: said.org, next: said.next }));
		sheet(root, t(`title.${name}`), body);
		if (needsLink && !(said.org && said.token)) go(t('incomplete.title'), t('incomplete.text'));
		else page(body, said, go);
	};
	// Another link in the same tab changes the fragment alone.
	addEventListener('hashchange', () => location.hash && show());
	show();
}
