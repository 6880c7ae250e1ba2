// Metadata is the customer's own JSON, and comes back exactly as it was sent: numbers larger than a double's precision included.
// JavaScript's own parser would round them, so texts are walked here, judged by the API's rules, and kept as typed.

const MOST_BYTES = 16 * 1024;
const MOST_LEVELS = 32;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const WORD = /true|false|null/y;
const SPACE = /[ \t\r\n]*/y;

/** Where a text stops being JSON, or breaks a rule. */
class Broken extends Error {}

class Walk {
  constructor(text, { strict = false, raw = null } = {}) {
    Object.assign(this, { text, strict, raw, at: 0 });
  }

  fail(what) {
    const before = this.text.slice(0, this.at).split('\n');
    throw new Broken(`${what} (line ${before.length}, column ${before.at(-1).length + 1})`);
  }

  match(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }

  take(sign) {
    this.match(SPACE);
    if (this.text[this.at] !== sign) return false;
    this.at += 1;
    this.match(SPACE);
    return true;
  }

  value(depth) {
    this.match(SPACE);
    const sign = this.text[this.at];
    if (sign === '{') return this.object(depth);
    if (sign === '[') return this.array(depth);
    if (sign === '"') return this.string();
    const word = this.match(WORD);
    return word ? JSON.parse(word) : this.number();
  }

  deeper(depth) {
    if (this.strict && depth > MOST_LEVELS) this.fail(`must be nested at most ${MOST_LEVELS} levels deep`);
  }

  object(depth) {
    this.deeper(depth);
    const fields = Object.create(null);
    this.take('{');
    if (this.take('}')) return fields;
    do {
      if (this.text[this.at] !== '"') this.fail('a key in double quotes is missing');
      const key = this.string();
      if (this.strict && key in fields) this.fail(`must not contain the key “${key}” twice`);
      if (!this.take(':')) this.fail('a colon is missing after the key');
      const from = this.at;
      const value = this.value(depth + 1);
      fields[key] = key === this.raw ? this.text.slice(from, this.at).trim() : value;
    } while (this.take(','));
    if (!this.take('}')) this.fail('a comma or } is missing');
    return fields;
  }

  array(depth) {
    this.deeper(depth);
    const items = [];
    this.take('[');
    if (this.take(']')) return items;
    do items.push(this.value(depth + 1));
    while (this.take(','));
    if (!this.take(']')) this.fail('a comma or ] is missing');
    return items;
  }

  string() {
    const text = this.match(STRING);
    if (text === undefined) this.fail('a text is not closed, or has a character that must be escaped');
    const value = JSON.parse(text);
    if (this.strict && value.includes('\0')) this.fail('must not contain NUL');
    if (this.strict && /\p{Surrogate}/u.test(value)) this.fail('has half of a surrogate pair');
    return value;
  }

  number() {
    const text = this.match(NUMBER);
    if (!text) this.fail(this.at < this.text.length ? 'a value is missing or misspelt' : 'the text ends too early');
    const value = Number(text);
    if (this.strict && !Number.isFinite(value)) this.fail('a number is out of range');
    return value;
  }

  whole() {
    const value = this.value(1);
    this.match(SPACE);
    if (this.at < this.text.length) this.fail('there is something after the end');
    return value;
  }
}

/** Reads an answer, but keeps every value named `metadata` as the text it is. */
export const parseKeepingMetadata = (text) => new Walk(text, { raw: 'metadata' }).whole();

/** Why the API would refuse this as metadata; null when it would take it. */
export function metadataProblem(text) {
  if (!/^[ \t\r\n]*\{/.test(text)) return 'Metadata must be a JSON object: { … }';
  const bytes = new TextEncoder().encode(rewritten(text, false)).length;
  if (bytes > MOST_BYTES) return `Metadata must be at most 16 KiB of JSON; this is ${(bytes / 1024).toFixed(1)} KiB.`;
  try {
    new Walk(text, { strict: true }).whole();
    return null;
  } catch (error) {
    if (error instanceof RangeError) return `Metadata must be nested at most ${MOST_LEVELS} levels deep.`;
    if (error instanceof Broken) return `Metadata: ${error.message}.`;
    throw error;
  }
}

/** The same JSON on many lines, every value as it was typed. */
export const pretty = (text) => rewritten(text, true);

/** Changes only the white space between values. */
function rewritten(text, indented) {
  const tokens = text.match(/"(?:[^"\\]|\\[^])*"?|[{}[\],:]|[^\s"{}[\],:]+/g) ?? [];
  if (!indented) return tokens.join('');
  let depth = 0;
  let out = '';
  const line = () => `\n${'  '.repeat(depth)}`;
  tokens.forEach((token, index) => {
    const closes = token === '}' || token === ']';
    const empty = closes && '{['.includes(tokens[index - 1] ?? ' ');
    if (closes) depth -= 1;
    if (closes && !empty) out += line();
    out += token === ':' ? ': ' : token;
    if (token === '{' || token === '[') depth += 1;
    const next = tokens[index + 1];
    if (token === ',' || ('{['.includes(token) && next !== '}' && next !== ']')) out += line();
  });
  return out;
}
