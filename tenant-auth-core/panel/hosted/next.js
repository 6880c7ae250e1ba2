// Where a person goes who has signed in: to where they were sent from (`next`), which the service has judged, else back to the panel they
// came from, else to the organization's application, else to the panel. Nobody leaves before an act of their own.

import { ApiError, api, button, fill, h, linkButton, parts, t } from '../kit.js';
import { currentSlug, home, takePlace } from '../store.js';

// The address of a page of ours that keeps what was said to this one.
export function to(page, said) {
	const fragment = String(new URLSearchParams(Object.entries(said).filter(([, value]) => value)));
	return fragment ? `${page}#${fragment}` : page;
}

export const leaving = (next, kind = 'primary') => linkButton(t('continue_to', { host: new URL(next).host }), next, kind);

export async function leave(next) {
	const place = takePlace();
	if (next) return location.assign(next);
	if (place) return location.assign(home(place));
	const { org } = await api('GET', '/org').catch(() => ({ org: {} }));
	location.assign(org.appUrl ?? home());
}

// Who is signed in at this browser already, and where they may go; null where nobody is, or nobody was sent here.
export async function present({ org: slug = currentSlug(), next }) {
	if (!slug || !next) return null;
	try {
		const { user, next: allowed } = await api('GET', `/auth/profile?${new URLSearchParams({ next })}`, undefined, { slug });
		const { org } = await api('GET', '/org', undefined, { slug });
		return { user, org, next: allowed ?? org.appUrl };
	} catch (error) {
		if (error instanceof ApiError) return null; // whoever it is, they can sign in
		throw error;
	}
}

export function stay(body, { user, org, next }, other) {
	fill(body,
		h('p.lead', parts('sign_in.present_as', { organization: h('strong', h('bdi', org.name)), name: h('strong', h('bdi', user.name)), email: h('strong', user.email) })),
		h('div.actions', next ? leaving(next) : linkButton(t('home'), home(), 'primary'), button(t('sign_in.other'), other)));
}
