// Links that prove an address or change it. A change needs a session; who has none signs in right here, and the link is not lost.

import { api, fill, form, guest, h, is, linkButton } from '../kit.js';
import { signInForm } from './sign-in.js';

const home = () => linkButton('Go to your account', './#/profile', 'primary');

export const verify = (body, said, go) => fill(body, h('p.lead', 'This says that the mail reached you.'), form({
	fields: [], submit: 'Verify this address',
	onsubmit: async () => go('Thank you', (await guest('POST', '/auth/verify-email', said.org, { token: said.token })).message, home()),
}));

export function changeEmail(body, said, go) {
	const confirm = async () => {
		try {
			go('Your address was changed', (await api('POST', '/auth/change-email/confirm', { token: said.token }, { slug: said.org })).message, home());
		} catch (error) {
			if (!is(error, 'session_required', 'wrong_organization')) throw error;
			const box = h('div');
			fill(body, h('p.lead', { role: 'status' }, `Sign in to “${said.org}” first, with the account whose address is to change.`), box);
			signInForm(box, { org: said.org, fixed: true, onsignedin: ask });
		}
	};
	const ask = () => fill(body, h('p.lead', 'Your account gets the address this mail was sent to. Every other session of yours ends.'), form({ fields: [], submit: 'Use this address', onsubmit: confirm }));
	ask();
}
