// What guards a person's account: the password and the second factor.

import { api, badge, button, card, facts, form, h, heading, loading, moment, newPasswordField, ownerField, passwordField, t } from '../kit.js';
import { disable, enrol, renewCodes } from './two-factor.js';

export const security = ({ user }) => [heading(t('panel.view.security'), t('panel.security.lead')), password(user.email), secondFactor()];

function password(email) {
	const [current, next] = [passwordField({ label: t('panel.security.current'), name: 'currentPassword' }), newPasswordField()];
	const element = form({
		fields: [ownerField(email), current, next], submit: t('panel.security.change'),
		check: () => current.value === next.value && ['newPassword', t('panel.security.same')],
		onsubmit: async () => {
			await api('POST', '/auth/change-password', { currentPassword: current.value, newPassword: next.value });
			current.value = next.value = '';
			element.say.say('good', t('panel.security.changed'));
		},
	});
	return card(t('field.password'), t('panel.security.password.text'), element);
}

function secondFactor() {
	const on = ({ enabledAt, recoveryCodesRemaining: left }) => [
		facts([t('panel.column.status'), badge(t('panel.security.on'), 'good')], [t('panel.security.since'), moment(enabledAt)], [t('panel.security.codes_left'), badge(String(left), left > 2 ? '' : 'bad')]),
		h('div.actions', button(t('panel.security.codes.new'), () => renewCodes(box.reload)), button(t('panel.security.turn_off'), () => disable(box.reload), { kind: 'danger-quiet' })),
	];
	const off = () => [facts([t('panel.column.status'), badge(t('panel.security.off'))]), h('div.actions', button(t('panel.security.turn_on'), () => enrol(box.reload), { kind: 'primary' }))];
	const box = loading(() => api('GET', '/auth/2fa'), (status) => (status.enabled ? on(status) : off()));
	return card(t('panel.security.second'), t('panel.security.second.text'), box);
}
