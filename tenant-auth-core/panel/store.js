// What this browser remembers: the organizations of earlier sign-ins and the tab's own. Never a token. Where the browser
// forbids storage, the address names the organization.

// The API's path, by where this file came from: a public URL may have a path of its own.
export const API = new URL('../api/v1', import.meta.url).pathname;

const key = (name) => `tenant-auth${API}:${name}`;

// Where storage is forbidden: as long as the page.
const memory = new Map();

function read(storage, name) {
	try {
		return JSON.parse(globalThis[storage].getItem(key(name)));
	} catch {
		return memory.get(storage + name) ?? null;
	}
}

function write(storage, name, value) {
	try {
		globalThis[storage].setItem(key(name), JSON.stringify(value));
	} catch {
		memory.set(storage + name, value); // full or forbidden
	}
}

// An organization in the address counts where nothing can be remembered from page to page.
const named = () => new URLSearchParams(location.search).get('org');

// The sign-in page's address. `said` is what it is told.
export function toSignIn(said = {}) {
	const fragment = String(new URLSearchParams({ ...said, ...(memory.size && { place: read('sessionStorage', 'place') ?? '' }) }));
	return fragment ? `sign-in#${fragment}` : 'sign-in';
}

// The panel's address.
export function home(hash = '') {
	return `./${memory.size && currentSlug() ? `?${new URLSearchParams({ org: currentSlug() })}` : ''}${hash}`;
}

// Signed in to last, in whatever tab: the cookies are this organization's.
export const lastSlug = () => read('localStorage', 'last');

// The organization this tab is about: its own choice, else the browser's last one.
export const currentSlug = () => read('sessionStorage', 'org') ?? named() ?? lastSlug();

export const chooseSlug = (slug) => write('sessionStorage', 'org', slug);

export function signedIn(slug, name, { name: called, email }) {
	chooseSlug(slug);
	setSignedInAs({ slug, name: called, email });
	write('localStorage', 'last', slug);
	remember(slug, name);
}

// Organizations signed in to before on this browser, the latest first: `[{slug, name}]`.
export const knownOrganizations = () => read('localStorage', 'known') ?? [];

const others = (slug) => knownOrganizations().filter((org) => org.slug !== slug);

export function remember(slug, name = knownOrganizations().find((org) => org.slug === slug)?.name ?? slug) {
	write('localStorage', 'known', [{ slug, name }, ...others(slug)]);
}

export function forget(slug) {
	write('localStorage', 'known', others(slug));
	if (lastSlug() === slug) write('localStorage', 'last', null);
	if (currentSlug() === slug) chooseSlug(null);
}

// Who is signed in, as far as this browser knows: `{slug, name, email}`; null after signing out.
export const signedInAs = () => read('localStorage', 'person');

export const setSignedInAs = (person) => write('localStorage', 'person', person);

// Where in the panel this tab comes back to after signing in; null where it showed no panel.
export const keepPlace = (hash) => write('sessionStorage', 'place', hash || '#/');

export function takePlace() {
	const place = read('sessionStorage', 'place');
	write('sessionStorage', 'place', null);
	return place;
}
