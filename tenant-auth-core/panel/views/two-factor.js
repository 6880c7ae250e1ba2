// The second factor: in force once a first code was accepted; recovery codes are shown once.

import { api, ask, button, codeField, copy, fill, form, h, open, passwordField, put, save, showSecret } from '../kit.js';
import { PRODUCT } from '../product.js';

export function enrol(done) {
	open('Turn on two-factor authentication', (dialog) => {
		const [box, password] = [h('div'), passwordField()];
		const cancel = () => dialog.close();
		const scan = ({ secret, qrCode }) => {
			const code = codeField('The 6 digits the app shows now.', true);
			const enable = form({
				fields: [code], submit: 'Turn on', cancel,
				onsubmit: async () => {
					const { recoveryCodes } = await api('POST', '/auth/2fa/enable', { code: code.value.replace(/\s/g, '') });
					dialog.close();
					done();
					showCodes(recoveryCodes);
				},
			});
			fill(box, h('ol.steps',
				h('li', h('p', 'Scan this picture with the app.'), h('img.qr', { src: qrCode, alt: 'QR code for your authenticator app', width: 200, height: 200 }),
					h('details', h('summary', 'I cannot scan it'), h('p', 'Enter this key in the app instead:'), h('code.secret-key', secret.match(/.{1,4}/g).join(' ')), button('Copy key', () => copy(secret), { kind: 'small', mark: 'copy' }))),
				h('li', h('p', 'Enter the code that it shows.'), enable)));
			code.input.focus();
		};
		return put(box, h('p.dialog-text', 'You need an authenticator app; many password managers are one.'), form({
			fields: [password], submit: 'Continue', cancel,
			onsubmit: async () => scan(await api('POST', '/auth/2fa/setup', { password: password.value })),
		}));
	});
}

// Shows recovery codes, once; to be copied, downloaded or printed.
function showCodes(codes) {
	const text = `Recovery codes for ${PRODUCT.name}\nEach one works once, in place of a code from your authenticator.\n\n${codes.join('\n')}\n`;
	const download = () => save(new Blob([text], { type: 'text/plain' }), 'recovery-codes.txt');
	const stored = 'I have stored them';
	const dialog = showSecret('Keep your recovery codes', (self) => [
		h('p.dialog-text', 'Each of these works once, when your authenticator is not at hand. Without both, only an operator can let you in again.'),
		h('ul.codes', codes.map((code) => h('li', h('code', code)))),
		h('p.notice.wait', 'This is the only time they are shown.'),
		h('div.actions', button('Copy', () => copy(text), { mark: 'copy' }), button('Download', download), button('Print', () => print()),
			button(stored, () => self.close(), { kind: 'primary' })),
	], { wide: true, stored });
	dialog.classList.add('printable');
}

export const renewCodes = (done) => guarded('/auth/2fa/recovery-codes', {
	title: 'New recovery codes', text: 'The old ones stop working.', submit: 'Make new codes',
	done({ recoveryCodes }) {
		done();
		showCodes(recoveryCodes);
	},
});

export const disable = (done) => guarded('/auth/2fa/disable', {
	title: 'Turn off two-factor authentication?', text: 'From then on the password alone opens your account. Every other session of yours ends.', submit: 'Turn off', kind: 'danger', done,
});

function guarded(path, options) {
	const [password, code] = [passwordField(), codeField()];
	ask({ ...options, fields: [password, code], onsubmit: () => api('POST', path, { password: password.value, code: code.value.trim() }) });
}
