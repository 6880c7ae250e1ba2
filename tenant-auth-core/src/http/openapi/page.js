// Searches the documentation, and tries its operations out: a request of this page, with the session that the browser has here. The page
// is whole without it. Nothing is kept but the slug, for this tab; no operation is carried out before its form is sent, and it asks for no key:
// keys belong on servers.

(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  // Search: each word must occur, in what is said of the operation or in its address.

  const box = document.querySelector('search');
  const input = box.querySelector('input');
  const count = box.querySelector('.count');
  const articles = all('article').map((element) => ({
    element,
    entry: document.querySelector(`[data-of="${element.id}"]`),
    text: `${element.id} ${element.dataset.path} ${element.textContent}`.toLowerCase(),
  }));
  const search = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const { element, entry, text } of articles) {
      const isFound = words.every((word) => text.includes(word));
      element.hidden = entry.hidden = !isFound;
      found += isFound;
    }
    for (const section of all('main > section')) section.hidden = !section.querySelector('article:not([hidden])');
    for (const list of all('nav ul')) list.hidden = list.previousElementSibling.hidden = !list.querySelector('li:not([hidden])');
    count.textContent = words.length ? `${found} of ${articles.length} operations` : '';
  };
  input.addEventListener('input', search);
  box.hidden = false;
  addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.target.closest('input, textarea, select') || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
  });
  // A link to an operation that the search hides shows it again.
  addEventListener('hashchange', () => {
    const wanted = document.getElementById(location.hash.slice(1));
    if (!wanted?.hidden) return;
    input.value = '';
    search();
    wanted.scrollIntoView();
  });

  // Trying out: the form is made of the document when it is first opened.

  const SLUG = 'docs.slug';
  const slug = () => { try { return sessionStorage.getItem(SLUG) ?? ''; } catch { return ''; } };
  const keepSlug = (value) => { try { sessionStorage.setItem(SLUG, value); } catch { /* then it is typed again */ } };
  let asked;
  const openapi = () => (asked ??= fetch('openapi.json').then((answer) => answer.json()).catch((error) => { asked = undefined; throw error; }));

  const resolved = (document_, part) => (part?.$ref ? part.$ref.split('/').slice(1).reduce((at, name) => at?.[name], document_) : part) ?? {};

  // A path of dots is another path, however it is encoded (the URL Standard's dot segments).
  const PLAIN = { pattern: '(?!\\.{1,2}$).+', title: 'Not a path of dots' };

  function control({ name, in: place, schema = {}, required }) {
    if (schema.enum) return make('select', { name, required }, make('option', { value: '' }), ...schema.enum.map((value) => make('option', { value, textContent: value })));
    return make('input', { name, required, autocomplete: 'off', spellcheck: false, ...(place === 'path' && PLAIN) });
  }

  async function form(article) {
    const { method, path, sample } = article.dataset;
    const document_ = await openapi();
    const operation = document_.paths[path][method.toLowerCase()];
    const fields = [];
    const add = (place, name, element) => {
      fields.push({ place, name, element });
      return make('label', {}, `${name} `, make('small', { textContent: `in ${place}` }), element);
    };
    const labels = (operation.parameters ?? []).map((part) => resolved(document_, part)).filter(({ in: place, name }) => place !== 'cookie' && name !== 'X-API-Key').map((parameter) => {
      const element = control(parameter);
      if (parameter.name === 'X-Org-Slug') element.value = slug();
      return add(parameter.in, parameter.name, element);
    });
    const schemes = (operation.security ?? []).flatMap((either) => Object.keys(either)).map((name) => document_.components.securitySchemes[name]);
    const isHeld = schemes.some(({ in: place }) => place === 'cookie');
    const body = operation.requestBody && make('textarea', { name: 'body', rows: Math.min(14, (sample ?? '').split('\n').length + 1), value: sample ?? '', spellcheck: false });
    if (body) labels.push(make('label', {}, 'Body ', make('small', { textContent: 'JSON' }), body));
    const send = make('button', { textContent: `Send ${method}` });
    const said = make('p', { role: 'status', textContent: isHeld ? 'Sent with the session that this browser has here.' : '' });
    const shown = make('pre', { hidden: true, tabIndex: 0 });
    shown.setAttribute('role', 'group');
    shown.setAttribute('aria-label', `Answer of ${method} ${path}`);
    const element = make('form', {}, ...labels, send);
    element.addEventListener('submit', async (event) => {
      event.preventDefault();
      if (send.hasAttribute('aria-busy') || (method === 'DELETE' && !confirm(`Send DELETE ${path}?`))) return;
      send.setAttribute('aria-busy', 'true');
      shown.hidden = true;
      said.textContent = '';
      try {
        await answer(request(method, path, fields, body), said, shown);
      } catch (error) {
        said.textContent = `Nothing came back: ${error.message}`;
      }
      send.removeAttribute('aria-busy');
    });
    return [element, said, shown];
  }

  function request(method, path, fields, body) {
    const [headers, query] = [new Headers(), new URLSearchParams()];
    let address = path;
    for (const { place, name, element: { value } } of fields) {
      if (place === 'path') address = address.replace(`{${name}}`, encodeURIComponent(value));
      else if (value && place === 'query') query.set(name, value);
      else if (value) headers.set(name, value);
      if (name === 'X-Org-Slug') keepSlug(value);
    }
    if (body?.value.trim()) headers.set('Content-Type', 'application/json');
    const base = location.pathname.replace(/\/docs\/?$/, '');
    return new Request(`${base}${address}${String(query) && `?${query}`}`, { method, headers, body: body?.value.trim() ? body.value : undefined, credentials: 'same-origin', redirect: 'manual' });
  }

  async function answer(asking, said, shown) {
    const began = performance.now();
    const response = await fetch(asking);
    const text = await response.text();
    const took = Math.round(performance.now() - began);
    const id = response.headers.get('X-Request-Id');
    said.textContent = `${response.status} after ${took} ms${id ? `, request ${id}` : ''}${response.headers.has('Retry-After') ? `, again after ${response.headers.get('Retry-After')} s` : ''}`;
    let pretty = text;
    try { pretty = JSON.stringify(JSON.parse(text), null, 2); } catch { /* no JSON */ }
    shown.textContent = pretty;
    shown.hidden = !pretty;
  }

  for (const { element } of articles.filter((one) => 'tried' in one.element.dataset)) {
    let isMade = false;
    const place = make('details', { className: 'try' }, make('summary', { textContent: 'Try it' }));
    place.addEventListener('toggle', async () => {
      if (!place.open || isMade) return;
      isMade = true;
      try {
        place.append(...await form(element));
      } catch {
        isMade = place.open = false;
      }
    });
    element.append(place);
  }
})();
