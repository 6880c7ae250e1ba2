// Everything a script of the page could read of a session. Answers what must not be there.

const jwt = /eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/;
const found = [];
if (document.cookie) found.push(`document.cookie: ${document.cookie}`);
for (const [kind, storage] of [['localStorage', localStorage], ['sessionStorage', sessionStorage]]) {
	for (const [key, value] of Object.entries(storage)) {
		if (jwt.test(value) || /token|password|secret/i.test(`${key} ${value}`)) found.push(`${kind}: ${key} = ${value}`);
	}
}
if (/token=/.test(location.href)) found.push(`the address still holds the token: ${location.href}`);
return found;
