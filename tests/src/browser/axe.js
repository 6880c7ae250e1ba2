// Runs axe-core, which must be on the page already, over the open dialog or else the whole page. Answers its violations, as sentences.

const still = new CSSStyleSheet();
still.replaceSync('*, *::before, *::after { transition: none !important; animation: none !important }');
document.adoptedStyleSheets.push(still);
// axe judges the contrast of what stands in a field, and not that of a placeholder: show the placeholder as what stands there.
const filled = [...document.querySelectorAll('input, textarea')].filter((field) => there(field) && field.placeholder && !field.value);
for (const field of filled) {
	field.style.color = getComputedStyle(field, '::placeholder').color;
	field.value = field.placeholder;
}
const [only, done] = [arguments[0], arguments[arguments.length - 1]];
const sentences = ({ id, help, nodes }) => nodes.map(({ html }) => `axe: ${id}: ${help}: ${html.slice(0, 140)}`);
const rules = only.length ? { runOnly: { type: 'rule', values: only } } : {};
axe.run(dialog() ?? document, { ...rules, resultTypes: ['violations'] })
	.then(({ violations }) => violations.flatMap(sentences), (error) => [`axe could not run: ${error}`])
	.then((wrong) => {
		for (const field of filled) {
			field.value = '';
			field.style.removeProperty('color');
		}
		document.adoptedStyleSheets.pop();
		done([...new Set(wrong)].slice(0, 40));
	});
