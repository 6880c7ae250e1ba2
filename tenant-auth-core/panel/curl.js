// What a dialog is about to do, as a command for a shell. The key is a variable of the shell: no secret stands on the page.

import { h } from './dom.js';
import { API, currentSlug } from './store.js';
import { t } from './text.js';
import { copy } from './toast.js';
import { button } from './ui.js';

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

// Deployment keys act for an organization that they name, and for the deployment without one.
export function command(method, path, body) {
	const isOfOrganization = !path.startsWith('/admin/');
	return [
		`curl -X ${method} ${quoted(new URL(API + path, location.href).href)}`, '-H "X-API-Key: $TENANT_AUTH_KEY"',
		...(isOfOrganization ? [`-H ${quoted(`X-Org-Slug: ${currentSlug()}`)}`] : []),
		...(body ? ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`] : []),
	].join(' \\\n  ');
}

// `request()` answers the method, the path and the body as they are now.
export const curlLine = (request) => request && h('div.curl', button(t('panel.curl'), () => copy(command(...request())), { kind: 'small', title: t('panel.curl.title') }));
