// The JSON API as functions. The session lives in cookies that no script sees, so all this file knows is how to ask: once, and
// when the access token has run out, once more after one refresh. Tabs take turns at refreshing and learn of each other's, so
// that none of them signs another out; only a wrong session leads to a refresh, never a wrong password.

import { API, currentSlug, noteRefreshed, refreshedAt } from './store.js';

/** Why a request was not carried out, in the API's words. */
export class ApiError extends Error {
  constructor(status, code, message, retryAfter = null) {
    super(message);
    this.status = status;
    this.code = code;
    /** Seconds to wait, where the API says so. */
    this.retryAfter = retryAfter;
  }
}

/** Whether an error has one of these codes. */
export const is = (error, ...codes) => error instanceof ApiError && codes.includes(error.code);

const tabs = 'BroadcastChannel' in globalThis ? new BroadcastChannel(`tenant-auth${API}`) : null;

/** Tells the other tabs of this browser: `signed-in` or `signed-out`, and where. */
export const tell = (what, slug) => tabs?.postMessage({ what, slug });

/** Hears the other tabs. */
export const hear = (listener) => tabs?.addEventListener('message', ({ data }) => listener(data.what, data.slug));

let onLost = null;

/** Decides what happens when the session cannot be had back; without it, the error is the caller's. */
export const whenSessionIsLost = (listener) => (onLost = listener);

/**
 * One request with the session. Answers the envelope's `data`. `text` is a body that is JSON already and must not be touched;
 * `parse` reads the answer where JSON.parse would lose something.
 */
export async function api(method, path, body, options = {}) {
  const slug = options.slug ?? currentSlug();
  const since = Date.now();
  try {
    return await send(method, path, slug, body, options).catch(async (error) => {
      if (!is(error, 'session_required')) throw error;
      await refresh(slug, since);
      return send(method, path, slug, body, options);
    });
  } catch (error) {
    if (onLost && is(error, 'session_required', 'wrong_organization')) {
      onLost(error);
      return new Promise(() => {}); // the page is about to change; nothing more is shown on this one
    }
    throw error;
  }
}

/** One request without a session: signing in, and what mailed links do. */
export const guest = (method, path, slug, body) => send(method, path, slug, body, {});

let refreshing = null;

/** One refresh for all requests of this tab, and one tab at a time. Who waited for another tab uses what that one got. */
function refresh(slug, since) {
  const work = async () => {
    if (refreshedAt(slug) > since) return;
    await send('POST', '/auth/refresh', slug, undefined, {});
    noteRefreshed(slug);
  };
  const lock = `tenant-auth${API}:refresh`;
  refreshing ??= Promise.resolve(navigator.locks ? navigator.locks.request(lock, work) : work()).finally(() => {
    refreshing = null;
  });
  return refreshing;
}

async function send(method, path, slug, body, { text, parse = JSON.parse }) {
  const headers = { 'X-Org-Slug': slug ?? '' };
  const content = text ?? (body === undefined ? undefined : JSON.stringify(body));
  if (content !== undefined) headers['Content-Type'] = 'application/json';
  const init = { method, headers, body: content, credentials: 'same-origin', cache: 'no-store', referrerPolicy: 'no-referrer' };
  let response;
  let answer;
  try {
    response = await fetch(API + path, init);
    answer = await response.text();
  } catch {
    throw new ApiError(0, 'unreachable', 'The service cannot be reached. Check the connection and try again.');
  }
  const envelope = read(answer, parse);
  if (response.ok && envelope?.status === 'success') return envelope.data;
  const retryAfter = Number.parseInt(response.headers.get('Retry-After') ?? '', 10) || null;
  const message = envelope?.message ?? `The service gave an unexpected answer (${response.status}). Try again in a moment.`;
  throw new ApiError(response.status, envelope?.code ?? 'unexpected', message, retryAfter);
}

function read(answer, parse) {
  try {
    return parse(answer);
  } catch {
    return null; // a proxy's own error page
  }
}

/** One page of a list: `{items, next}`. */
export async function page(path, key, { cursor, limit = 100, parse } = {}) {
  const query = new URLSearchParams({ limit, ...(cursor && { cursor }) });
  const data = await api('GET', `${path}?${query}`, undefined, { parse });
  return { items: data[key], next: data.nextCursor ?? null };
}

/** A whole list, page after page. */
export async function all(path, key) {
  const items = [];
  let cursor = null;
  do {
    const part = await page(path, key, { cursor, limit: 1000 });
    items.push(...part.items);
    cursor = part.next;
  } while (cursor);
  return items;
}
