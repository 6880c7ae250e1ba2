// What guards a person's account: the password and the second factor.

import { api, badge, button, card, facts, form, h, heading, loading, moment, newPasswordField, passwordField } from '../kit.js';
import { disable, enrol, renewCodes } from './two-factor.js';

export const security = () => [heading('Security', 'What guards your account, in every organization you belong to.'), password(), secondFactor()];

function password() {
	const [current, next] = [passwordField({ label: 'Current password', name: 'currentPassword' }), newPasswordField()];
	const element = form({
		fields: [current, next], submit: 'Change password',
		check: () => current.value === next.value && ['newPassword', 'This is the password you have. Choose another one.'],
		onsubmit: async () => {
			const { message } = await api('POST', '/auth/change-password', { currentPassword: current.value, newPassword: next.value });
			current.value = next.value = '';
			element.say.say('good', message);
		},
	});
	return card('Password', 'A new password ends every other session of yours, everywhere.', element);
}

function secondFactor() {
	const on = ({ enabledAt, recoveryCodesRemaining: left }) => [
		facts(['Status', badge('On', 'good')], ['Since', moment(enabledAt)], ['Recovery codes left', badge(String(left), left > 2 ? '' : 'bad')]),
		h('div.actions', button('New recovery codes', () => renewCodes(box.reload)), button('Turn off', () => disable(box.reload), { kind: 'danger-quiet' })),
	];
	const off = () => [facts(['Status', badge('Off')]), h('div.actions', button('Turn on', () => enrol(box.reload), { kind: 'primary' }))];
	const box = loading(() => api('GET', '/auth/2fa'), (status) => (status.enabled ? on(status) : off()));
	return card('Two-factor authentication', 'A code from an app, asked for after the password.', box);
}
