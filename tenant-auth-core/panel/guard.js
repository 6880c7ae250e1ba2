// Says so when the page cannot start, because a file of it is missing or does not fit the others, as may happen while a new
// version is put in place. Imports nothing, so it runs whatever else fails.

const texts = JSON.parse(document.querySelector('meta[name=words]')?.content || '{}');
const root = document.getElementById('page');
const reload = document.createElement('button');
reload.className = 'button primary';
reload.textContent = texts['broken.reload'];
reload.addEventListener('click', () => location.reload());

function tell() {
	if (root.querySelector('main, .frame')) return; // it started
	const sheet = document.createElement('main');
	sheet.className = 'sheet';
	const title = document.createElement('h1');
	title.textContent = texts['broken.title'];
	const text = document.createElement('p');
	text.className = 'lead';
	text.textContent = texts['broken.text'];
	sheet.append(title, text, reload);
	root.replaceChildren(sheet);
}

addEventListener('error', tell, true);
addEventListener('unhandledrejection', tell);
