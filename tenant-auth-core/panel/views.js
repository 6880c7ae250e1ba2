// The views of the panel: path, title, group, who sees it, what it shows, and what the path's second part names.

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
	['members', 'Members', 'Organization', everybody, members],
	['invites', 'Invites', 'Organization', admins, invites],
	['api-keys', 'API keys', 'Organization', admins, keys],
	['webhooks', 'Webhooks', 'Organization', admins, webhooks, webhook],
	['audit', 'Audit log', 'Organization', admins, audit],
	['settings', 'Settings', 'Organization', everybody, settings],
	['profile', 'Profile', 'Your account', everybody, profile],
	['security', 'Security', 'Your account', everybody, security],
	['sessions', 'Sessions', 'Your account', everybody, sessions],
	['operator', 'Organizations', 'Operator', operators, operator, organization],
];

export const VIEWS = ROWS.map(([path, title, group, may, view, detail = view]) => ({ path, title, group, may, view, detail }));
