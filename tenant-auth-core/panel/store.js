// What this browser remembers between visits: which organizations somebody signed in to, and which one a tab is about. Never a
// token: those live in HttpOnly cookies that no script can read. Where storage is switched off, everything works but the memory.

/** The path of the API, found from where this file was served: a public URL may have a path of its own. */
export const API = new URL('../api/v1', import.meta.url).pathname;

const key = (name) => `tenant-auth${API}:${name}`;

function read(storage, name) {
  try {
    return JSON.parse(globalThis[storage].getItem(key(name)));
  } catch {
    return null;
  }
}

function write(storage, name, value) {
  try {
    if (value === null) globalThis[storage].removeItem(key(name));
    else globalThis[storage].setItem(key(name), JSON.stringify(value));
  } catch {
    // Storage is full or forbidden; the memory is a convenience.
  }
}

/** The organization this tab is about: its own choice, else the browser's last one. */
export const currentSlug = () => read('sessionStorage', 'org') ?? lastSlug();

/** The organization that somebody signed in to last, in whatever tab: the one the cookies belong to. */
export const lastSlug = () => read('localStorage', 'last');

/** This tab is about another organization from now on. */
export const chooseSlug = (slug) => write('sessionStorage', 'org', slug);

/** A session was opened in this organization. */
export function signedIn(slug, name) {
  chooseSlug(slug);
  write('localStorage', 'last', slug);
  remember(slug, name);
}

/** Organizations signed in to before on this browser, the latest first: `[{slug, name}]`. */
export function knownOrganizations() {
  const known = read('localStorage', 'known');
  return Array.isArray(known) ? known.filter((org) => typeof org?.slug === 'string') : [];
}

/** Keeps an organization's name for the sign-in page. */
export function remember(slug, name) {
  const others = knownOrganizations().filter((org) => org.slug !== slug);
  const before = knownOrganizations().find((org) => org.slug === slug);
  write('localStorage', 'known', [{ slug, name: name ?? before?.name ?? slug }, ...others].slice(0, 12));
}

/** Offers an organization no longer. */
export function forget(slug) {
  write('localStorage', 'known', knownOrganizations().filter((org) => org.slug !== slug));
  if (lastSlug() === slug) write('localStorage', 'last', null);
  if (read('sessionStorage', 'org') === slug) chooseSlug(null);
}

/** Where somebody was when the session ended, to come back to. */
export const keepPlace = (hash) => write('sessionStorage', 'place', hash || null);

/** That place, once. */
export function takePlace() {
  const place = read('sessionStorage', 'place');
  write('sessionStorage', 'place', null);
  return typeof place === 'string' && place.startsWith('#/') ? place : '';
}

/** When any tab of this browser last refreshed this organization's session; milliseconds. */
export const refreshedAt = (slug) => read('localStorage', 'refreshed')?.[slug] ?? 0;

/** Tells the other tabs that the session is fresh. */
export const noteRefreshed = (slug) => write('localStorage', 'refreshed', { [slug]: Date.now() });
