// The page "Content writer": fields of the chosen source, streaming, preview and estimate. Without this script, texts are
// written in the background.
import { readEvents, textReader } from './server-events.js';

// Where a post is shown, what its HTML says must do nothing.
if (!document.querySelector(':root.admin')) throw new Error('not-in-admin');

const form = document.querySelector('[data-content-form]');
const field = (name) => form.elements.namedItem(name);
const find = (selector) => form?.querySelector(selector);
const base = location.pathname;
const labels = new Map(
  [...(form?.querySelectorAll('[data-part]') ?? [])].map((part) => [
    part.dataset.part,
    part.querySelector('.content-part-title').textContent,
  ]),
);
const write = find('[data-write]');
const stop = find('[data-stop]');
const result = find('[data-result-area]');
const status = find('[data-status]');
const progress = find('[data-progress]');
const preview = find('[data-preview]');
const stopped = __('Stopped. The text so far is below: edit it, save it, or write it again.');
let reader = null;
let waiting = 0;

const source = () => form.querySelector('[name="source"]:checked')?.value ?? 'topic';

function showSource() {
  write.hidden = reader !== null || !['topic', 'pages'].includes(source());
}

function body() {
  const data = new FormData(form);
  data.delete('csv_file');
  return new URLSearchParams(data);
}

async function ask(action) {
  const response = await fetch(`${base}?action=${action}`, {
    method: 'POST',
    body: body(),
    headers: { Accept: 'application/json' },
  });
  return { response, answer: response.headers.get('content-type')?.includes('json') ? await response.json() : null };
}

function later(run, milliseconds) {
  clearTimeout(waiting);
  waiting = window.setTimeout(run, milliseconds);
}

async function estimate() {
  try {
    const { answer } = await ask('estimate');
    find('[data-estimate]').textContent = answer?.data?.text ? __('Estimate: {text}', { text: answer.data.text }) : '';
  } catch {
    find('[data-estimate]').textContent = '';
  }
}

async function renderPreview() {
  const response = await fetch(`${base}?action=preview`, {
    method: 'POST',
    body: new URLSearchParams({ _nonce: field('_nonce').value, markdown: field('draft[content]').value }),
    headers: { Accept: 'application/json' },
  });
  const answer = await response.json();
  if (answer.data) preview.innerHTML = answer.data.html;
}

function showStatus(text, kind = '') {
  status.textContent = text;
  status.className = kind === '' ? 'content-status' : `content-status notice notice-${kind}`;
}

function showErrors(answer) {
  for (const note of form.querySelectorAll('[data-error]')) note.remove();
  for (const input of form.querySelectorAll('[aria-invalid]')) input.removeAttribute('aria-invalid');
  const entries = Object.entries(answer?.data?.errors ?? {});
  for (const [name, sentence] of entries) {
    const input = field(name);
    if (!(input instanceof HTMLElement)) continue;
    const note = Object.assign(document.createElement('p'), {
      className: 'field-error',
      id: `${input.id}-error`,
      textContent: sentence,
    });
    note.dataset.error = '';
    input.setAttribute('aria-invalid', 'true');
    input.setAttribute('aria-describedby', note.id);
    input.after(note);
    input.closest('details')?.setAttribute('open', '');
  }
  const first = entries.map(([name]) => field(name)).find((input) => input instanceof HTMLElement);
  first?.focus();
  showStatus(answer?.notice?.text ?? __('The server did not respond. Try again.'), 'error');
}

function setWriting(isWriting) {
  stop.hidden = !isWriting;
  write.hidden = isWriting;
  result.setAttribute('aria-busy', String(isWriting));
  for (const button of form.querySelectorAll('button[type="submit"]')) button.disabled = isWriting;
  if (!isWriting) showSource();
}

function prepareResult() {
  result.hidden = false;
  for (const name of labels.keys()) if (field(`draft[${name}]`)) field(`draft[${name}]`).value = '';
  preview.replaceChildren();
  find('[data-image]').hidden = true;
  const enabled = [...labels].filter(([name]) => form.querySelector(`#content-part-${name}`).checked);
  progress.replaceChildren(
    ...enabled.map(([name, label]) => {
      const entry = Object.assign(document.createElement('li'), { textContent: label });
      entry.dataset.of = name;
      return entry;
    }),
  );
  progress.hidden = false;
  result.scrollIntoView({ block: 'start' });
  stop.focus({ preventScroll: true });
}

const mark = (part, state) => progress.querySelector(`[data-of="${part}"]`)?.setAttribute('data-state', state);

function put(part, value) {
  if (part === 'image') {
    const figure = find('[data-image]');
    figure.hidden = !value?.url;
    if (value?.url) Object.assign(figure.querySelector('img'), { src: value.url, alt: value.alt });
    return;
  }
  const input = field(`draft[${part}]`);
  if (input) input.value = Array.isArray(value) ? value.join(', ') : value;
}

const handlers = {
  begin: ({ uuid }) => (field('uuid').value = uuid),
  reading: ({ url }) => showStatus(__('Reading {url}', { url })),
  part: ({ part }) => {
    mark(part, 'now');
    showStatus(__('Writing: {part}', { part: labels.get(part) }));
  },
  text: ({ part, text }) => {
    const input = field(`draft[${part}]`);
    if (!input) return;
    input.value += text;
    input.scrollTop = input.scrollHeight;
  },
  done: ({ part, value, html }) => {
    mark(part, 'done');
    put(part, value);
    if (html !== undefined) preview.innerHTML = html;
  },
  end: ({ draft, html, spent }) => {
    for (const part of labels.keys()) if (draft[part] !== undefined) put(part, draft[part]);
    preview.innerHTML = html;
    showStatus(__('Finished: {spent}. Edit the text, then save it.', { spent }), 'success');
    history.replaceState(null, '', `${base}?text=${field('uuid').value}`);
    field('draft[title]').focus();
  },
  failed: ({ message, spent }) => showStatus(`${message} ${__('Usage: {spent}.', { spent })}`, 'error'),
};

async function readStream(response) {
  reader = textReader(response);
  let last = '';
  for await (const { event, data } of readEvents(reader)) {
    last = event;
    handlers[event]?.(data);
  }
  return last;
}

async function begin() {
  setWriting(true);
  showStatus(__('Starting'));
  try {
    const { response, answer } = await ask('stream');
    if (answer !== null || !response.ok) return showErrors(answer);
    prepareResult();
    const last = await readStream(response);
    if (reader.stopped) showStatus(stopped, 'warning');
    else if (last !== 'end' && last !== 'failed')
      showStatus(__('The connection was lost. The text so far is below: save it or write it again.'), 'warning');
  } catch {
    showStatus(
      reader?.stopped ? stopped : __('The connection was lost. The text so far is below: save it or write it again.'),
      'warning',
    );
  } finally {
    reader = null;
    setWriting(false);
  }
}

function listen() {
  write.addEventListener('click', begin);
  stop.addEventListener('click', () => {
    const running = reader;
    if (!running) return;
    running.stopped = true;
    void running.cancel();
  });
  form.addEventListener('change', (event) => {
    const name = event.target.name ?? '';
    if (name === 'source' || name === 'post[save]') showSource();
    if (name === 'template') form.requestSubmit(form.querySelector('[formaction*="action=use"]'));
    const state = event.target.closest?.('[data-part]')?.querySelector('[data-part-state]');
    if (state && event.target.role === 'switch') {
      state.textContent = event.target.checked ? __('On') : __('Off');
      state.classList.toggle('badge-success', event.target.checked);
    }
    if (name !== 'template' && !name.startsWith('draft[')) later(estimate, 400);
  });
  form.addEventListener('input', (event) => {
    if (event.target.name === 'draft[content]' && reader === null) later(renderPreview, 500);
  });
  showSource();
  if (field('topic').value !== '') later(estimate, 100);
}

if (form) listen();
