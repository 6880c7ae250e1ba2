// The JSON API as functions. An expired access token is refreshed once and the request sent again. Tabs take turns at refreshing,
// so that no tab signs another out. Only `session_required` leads there, never a wrong password.

import { API, currentSlug } from './store.js';

const PATIENCE = 30_000;
const FILE_PATIENCE = 3_600_000;

// Why a request was not carried out, in the API's words.
export class ApiError extends Error {
	/**
	 * @param {number} status @param {string} code @param {string} message
	 * @param {{ retryAfter?: number | null, field?: string }} [told] `retryAfter`: seconds to wait; `field`: the part of the request at fault. Where the API says so.
	 */
	constructor(status, code, message, { retryAfter = null, field } = {}) {
		super(message);
		this.status = status;
		this.code = code;
		this.retryAfter = retryAfter;
		this.field = field;
	}
}

export const is = (error, ...codes) => error instanceof ApiError && codes.includes(error.code);

const tabs = new BroadcastChannel(`tenant-auth${API}`);

// Tells the other tabs that a person, by their id, signed in to an organization, or that they signed out.
export const tell = (what, slug, person) => tabs.postMessage({ what, slug, person });

export const hear = (listener) => tabs.addEventListener('message', ({ data }) => listener(data.what, data.slug, data.person));

let onLost = null;
let onRefused = null;

// The listener answers a promise; once it is fulfilled, the request is sent again. Without one, a lost session is the caller's error.
export const whenSessionIsLost = (listener) => (onLost = listener);

// Told when a right is missing that the page took for granted.
export const whenRightIsMissing = (listener) => (onRefused = listener);

/**
 * One request with the session; answers the envelope's `data`. Options: `slug`; `text`, a body that is JSON already; `parse`, for
 * what JSON.parse would lose; `file`, for an answer that is one, as a Blob.
 */
export async function api(method, path, body, options = {}) {
	const slug = options.slug ?? currentSlug();
	let first = method === 'GET' && early.get(`${slug} ${path}`);
	early.delete(`${slug} ${path}`);
	const ask = () => {
		const answer = first || send(method, path, slug, body, options);
		first = null;
		return answer;
	};
	const unlessLost = (next) => (error) => {
		if (!is(error, 'session_required')) throw error;
		return next();
	};
	const refresh = () => send('POST', '/auth/refresh', slug).then(ask);
	try {
		return await ask().catch(unlessLost(() => inTurn(() => ask().catch(unlessLost(refresh)))));
	} catch (error) {
		if (is(error, 'admin_required')) onRefused?.();
		if (!onLost || !is(error, 'session_required', 'wrong_organization')) throw error;
		await onLost(error);
		return api(method, path, body, options);
	}
}

const early = new Map();

// Asks already for what a view is about to ask for, so that it need not wait until the page knows who it is.
export function ahead(path, options) {
	const slug = currentSlug();
	const answer = send('GET', path, slug, undefined, options);
	answer.catch(() => {}); // told to who asks for it
	early.set(`${slug} ${path}`, answer);
	setTimeout(() => early.delete(`${slug} ${path}`), 5000); // what was true then
}

let queue = Promise.resolve();

// One at a time: in this browser, or where it has no locks, in this tab.
const inTurn = (work) => (navigator.locks ? navigator.locks.request(`tenant-auth${API}`, work) : (queue = queue.then(work, work)));

// One request without a session.
export const guest = (method, path, slug, body) => send(method, path, slug, body);

// Saves a file once it is whole: one that breaks off is an error, and nothing is saved.
export async function download(path, body, name) {
	save(await api('POST', path, body, { file: true }), name);
}

// Hands a file to the browser to be kept.
export function save(file, name) {
	const url = URL.createObjectURL(file);
	Object.assign(document.createElement('a'), { href: url, download: name }).click();
	setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** @param {string} method @param {string} path @param {string | null} slug @param {any} body @param {{ text?: string, parse?: (text: string) => any, file?: boolean }} [how] */
async function send(method, path, slug, body, { text = body && JSON.stringify(body), parse = JSON.parse, file } = {}) {
	const headers = { 'X-Org-Slug': slug ?? '', ...(text && { 'Content-Type': 'application/json' }) };
	let response;
	let answer;
	try {
		const signal = AbortSignal.timeout(file ? FILE_PATIENCE : PATIENCE);
		response = await fetch(API + path, { method, headers, body: text, cache: 'no-store', signal });
		if (file && response.ok) return await response.blob();
		answer = await response.text();
	} catch {
		throw new ApiError(0, 'unreachable', '');
	}
	const envelope = read(answer, parse);
	if (response.ok && envelope?.status === 'success') return envelope.data;
	const { code = 'unexpected', message = '', field } = envelope ?? {};
	throw new ApiError(response.status, code, message, { retryAfter: Number.parseInt(response.headers.get('Retry-After'), 10) || null, field });
}

function read(answer, parse) {
	try {
		return parse(answer);
	} catch {
		return null; // a proxy's own error page
	}
}

// One page of a list: `{items, next}`.
/** @param {string} path @param {string} key @param {PageOptions} [options] */
export async function page(path, key, { cursor, limit = 100, order, parse, query } = {}) {
	const parameters = new URLSearchParams({ ...query, limit: String(limit), ...(cursor && { cursor }), ...(order && { order }) });
	const data = await api('GET', `${path}?${parameters}`, undefined, { parse });
	return { items: data[key], next: data.nextCursor ?? null };
}

// A whole list, page by page.
/** @param {string} path @param {string} key @param {PageOptions} [options] */
export async function all(path, key, options = {}) {
	const found = [];
	let cursor = null;
	do {
		const part = await page(path, key, { ...options, cursor, limit: 1000 });
		found.push(...part.items);
		cursor = part.next;
	} while (cursor);
	return found;
}
