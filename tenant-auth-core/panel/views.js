// The views of the panel: path, title, group, who sees it, what it shows, and what the path's second part names.

import { t } from './text.js';
import { audit } from './views/audit.js';
import { invites } from './views/invites.js';
import { keys } from './views/keys.js';
import { members } from './views/members.js';
import { operator, organization } from './views/operator.js';
import { profile } from './views/profile.js';
import { security } from './views/security.js';
import { sessions } from './views/sessions.js';
import { settings } from './views/settings.js';
import { webhook } from './views/webhook.js';
import { webhooks } from './views/webhooks.js';

const everybody = () => true;
const admins = (context) => context.isAdmin;
const operators = (context) => context.user.role === 'admin';

/** @type {ViewRow[]} */
const ROWS = [
	['members', t('panel.view.members'), t('panel.view.organization'), everybody, members],
	['invites', t('panel.view.invites'), t('panel.view.organization'), admins, invites],
	['api-keys', t('panel.view.keys'), t('panel.view.organization'), admins, keys],
	['webhooks', t('panel.view.webhooks'), t('panel.view.organization'), admins, webhooks, webhook],
	['audit', t('panel.view.audit'), t('panel.view.organization'), admins, audit],
	['settings', t('panel.view.settings'), t('panel.view.organization'), everybody, settings],
	['profile', t('panel.view.profile'), t('panel.view.account'), everybody, profile],
	['security', t('panel.view.security'), t('panel.view.account'), everybody, security],
	['sessions', t('panel.view.sessions'), t('panel.view.account'), everybody, sessions],
	['operator', t('panel.view.organizations'), t('panel.view.operator'), operators, operator, organization],
];

export const VIEWS = ROWS.map(([path, title, group, may, view, detail = view]) => ({ path, title, group, may, view, detail }));
