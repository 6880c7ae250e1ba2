// The second factor: in force once a first code was accepted; recovery codes are shown once.

import { api, ask, button, codeField, copy, fill, form, h, is, open, passwordField, put, save, showSecret, t, toast } from '../kit.js';
import { PRODUCT } from '../product.js';

export function enrol(done) {
	open(t('panel.second.on.title'), (dialog) => {
		const [box, password] = [h('div'), passwordField()];
		const cancel = () => dialog.close();
		// An answer that was lost took the codes with it.
		const withoutCodes = async (error) => {
			const { enabled } = is(error, 'unreachable', 'two_factor_enabled') ? await api('GET', '/auth/2fa').catch(() => ({})) : {};
			if (!enabled) throw error;
			dialog.close();
			done();
			toast(t('panel.second.lost'), true);
		};
		const scan = ({ secret, qrCode, otpauthUrl }) => {
			const code = codeField(t('panel.second.digits'), true);
			const enable = form({
				fields: [code], submit: t('panel.security.turn_on'), cancel,
				onsubmit: async () => {
					const enabled = await api('POST', '/auth/2fa/enable', { code: code.value.replace(/\s/g, '') }).catch(withoutCodes);
					if (!enabled) return;
					dialog.close();
					done();
					showCodes(enabled.recoveryCodes);
				},
			});
			fill(box, h('ol.steps',
				h('li', h('p', t('panel.second.scan')), h('img.qr', { src: qrCode, alt: t('panel.second.picture'), width: 200, height: 200 }), h('p', h('a', { href: otpauthUrl }, t('panel.second.here'))),
					h('details', h('summary', t('panel.second.cannot')), h('p', t('panel.second.key')), h('code.secret-key', secret.match(/.{1,4}/g).join(' ')), button(t('panel.second.copy_key'), () => copy(secret), { kind: 'small', mark: 'copy' }))),
				h('li', h('p', t('panel.second.enter')), enable)));
			code.input.focus();
		};
		return put(box, h('p.dialog-text', t('panel.second.need')), form({
			fields: [password], submit: t('panel.second.continue'), cancel,
			onsubmit: async () => scan(await api('POST', '/auth/2fa/setup', { password: password.value })),
		}));
	});
}

// Shows recovery codes, once; to be copied, downloaded or printed.
function showCodes(codes) {
	const text = `${t('panel.second.file.title', { product: PRODUCT.name })}\n${t('panel.second.file.text')}\n\n${codes.join('\n')}\n`;
	const download = () => save(new Blob([text], { type: 'text/plain' }), 'recovery-codes.txt');
	const stored = t('panel.second.stored');
	const dialog = showSecret(t('panel.second.codes.title'), (self) => [
		h('p.dialog-text', t('panel.second.codes.text')),
		h('ul.codes', codes.map((code) => h('li', h('code', code)))),
		h('p.notice.wait', t('panel.second.codes.once')),
		h('div.actions', button(t('panel.copy'), () => copy(text), { mark: 'copy' }), button(t('panel.second.download'), download), button(t('panel.second.print'), () => print()),
			button(stored, () => self.close(), { kind: 'primary' })),
	], { wide: true, stored });
	dialog.classList.add('printable');
}

export const renewCodes = (done) => guarded('/auth/2fa/recovery-codes', {
	title: t('panel.security.codes.new'), text: t('panel.second.renew.text'), submit: t('panel.second.renew.submit'),
	done({ recoveryCodes }) {
		done();
		showCodes(recoveryCodes);
	},
});

export const disable = (done) => guarded('/auth/2fa/disable', {
	title: t('panel.second.off.title'), text: t('panel.second.off.text'), submit: t('panel.security.turn_off'), kind: 'danger', said: t('panel.second.off.done'), done,
});

/** @param {string} path @param {any} options */
function guarded(path, { said = undefined, ...options }) {
	const [password, code] = [passwordField(), codeField()];
	ask({ ...options, fields: [password, code], onsubmit: () => api('POST', path, { password: password.value, code: code.value.trim() }).then((answer) => said ?? answer) });
}
