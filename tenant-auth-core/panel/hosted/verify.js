// Proving an address: one button, because opening the link must not be enough.

import { fill, form, guest, h, linkButton } from '../kit.js';

export function verify(body, said, go) {
	fill(body, h('p.lead', 'With this button you say that the mail reached you.'), form({
		fields: [], submit: 'Verify this address',
		onsubmit: async () => {
			const { message } = await guest('POST', '/auth/verify-email', said.org, { token: said.token });
			go('Thank you', message, linkButton('Go to your account', './#/profile', 'primary'));
		},
	}));
}
