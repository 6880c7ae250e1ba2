// What errors are called here, where the API's own words are for programmers.

import { ApiError } from './api.js';

const WORDS = {
	admin_required: 'Only admins of this organization may do this.',
	not_found: 'It is not there any more.',
	last_admin: 'This is the last active admin. Make somebody else an admin first.',
	operator_required: 'Only operators may do this, signed in with two-factor authentication in the last 12 hours.',
};

export function words(error) {
	if (!(error instanceof ApiError)) return 'Something went wrong. Reload the page and try again.';
	return WORDS[error.code] ?? error.message;
}
