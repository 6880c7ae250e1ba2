// Confirming a new address, in a session of the account that asked for it. Who has none signs in right here: the link is not lost.

import { api, fill, form, h, is, linkButton } from '../kit.js';
import { signInForm } from './sign-in.js';

export function changeEmail(body, said, go) {
	const ask = () => fill(body, h('p.lead', 'Your account gets the address this mail was sent to. Every other session of yours ends.'), form({
		fields: [], submit: 'Use this address',
		onsubmit: async () => {
			try {
				const { message } = await api('POST', '/auth/change-email/confirm', { token: said.token }, { slug: said.org });
				go('Your address was changed', message, linkButton('Go to your account', './#/profile', 'primary'));
			} catch (error) {
				if (!is(error, 'session_required', 'wrong_organization')) throw error;
				const box = h('div');
				fill(body, h('p.lead', { role: 'status' }, `Sign in to “${said.org}” first, with the account whose address is to change.`), box);
				signInForm(box, { org: said.org, fixed: true, onsignedin: ask });
			}
		},
	}));
	ask();
}
