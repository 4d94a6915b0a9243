// "Try it" in the REST reference: sends the request of a form, as the signed-in user or with a key, and shows the response.

// Where a post is shown, what its HTML says must do nothing.
if (!document.querySelector(':root.admin')) throw new Error('not-in-admin');

/** Characters of a response that are shown. */
const longestText = 100_000;

for (const form of document.querySelectorAll('form[data-rest-trial]'))
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send(form);
  });

async function send(form) {
  const region = form.querySelector('[data-response]');
  region.replaceChildren(__('Sending…'));
  const start = performance.now();
  try {
    const response = await fetch(...(await requestOf(form)));
    const text = await response.text();
    const state = element(
      'span',
      { class: `badge badge-${response.ok ? 'success' : 'error'}` },
      String(response.status),
    );
    const time = __('{milliseconds} ms', { milliseconds: Math.round(performance.now() - start) });
    region.replaceChildren(
      element('div', { class: 'cluster' }, state, element('span', { class: 'small muted' }, time)),
      element('div', { class: 'code' }, element('pre', { tabindex: '0', 'data-copy-source': '' }, readable(text))),
    );
  } catch (error) {
    region.replaceChildren(element('p', { class: 'field-error', role: 'alert' }, error.message));
  }
}

/** The arguments of fetch. */
async function requestOf(form) {
  const values = new FormData(form);
  const url = new URL(
    form.dataset.url.replace(/\{(\w+)\}/g, (_match, name) => encodeURIComponent(values.get(`path.${name}`) ?? '')),
  );
  for (const [name, value] of values)
    if (name.startsWith('query.') && value !== '') url.searchParams.append(name.slice('query.'.length), value);
  const [key, body] = [values.get('key') ?? '', values.get('body')];
  const headers = {
    Accept: 'application/json',
    ...(key === '' ? { 'X-WP-Nonce': await readNonce(form) } : { Authorization: `bearer ${key}` }),
    ...(body !== null && { 'Content-Type': 'application/json' }),
  };
  // The site may be open under another address than its own.
  const target = new URL(url.pathname + url.search, location.href);
  const method = form.dataset.restTrial;
  const credentials = key === '' ? 'same-origin' : 'omit';
  return [target, { method, headers, credentials, ...(body !== null && { body }) }];
}

async function readNonce(form) {
  const response = await fetch(form.dataset.nonce);
  if (!response.ok) throw new Error(__('You are signed out. Sign in again in another tab.'));
  return response.text();
}

function readable(text) {
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Shown as it is.
  }
  return shown.length > longestText ? `${shown.slice(0, longestText)}…` : shown;
}

function element(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}
