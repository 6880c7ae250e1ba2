// Tables as text (RFC 4180): read from what somebody pastes or exports elsewhere, and written for a spreadsheet.

// The rows of a text, each a list of cells. Commas, semicolons and tabs part cells; quotes hold them.
export function rowsOf(text) {
	const rows = [[]];
	let [cell, isQuoted] = ['', false];
	const end = () => {
		rows.at(-1).push(cell.trim());
		cell = '';
	};
	for (let at = 0; at < text.length; at += 1) {
		const sign = text[at];
		if (isQuoted && sign === '"' && text[at + 1] === '"') cell += text[at += 1];
		else if (sign === '"' && (isQuoted || !cell.trim())) isQuoted = !isQuoted;
		else if (isQuoted || !/[,;\t\r\n]/.test(sign)) cell += sign;
		else end();
		if (!isQuoted && (sign === '\n' || sign === '\r')) rows.push([]);
	}
	end();
	return rows.filter((row) => row.some(Boolean));
}

// A name may begin like a formula, which a spreadsheet would run; behind an apostrophe it is a text (behaviour.md, B256).
const harmless = (text) => (/^\s*[=+\-@]|^[\t\r]/.test(text) ? `'${text}` : text);

// A file of rows, with the mark by which spreadsheets know UTF-8.
export const csv = (rows) => new Blob(['\ufeff', ...rows.map((row) => `${row.map((cell) => `"${harmless(String(cell)).replaceAll('"', '""')}"`).join(',')}\r\n`)], { type: 'text/csv' });
