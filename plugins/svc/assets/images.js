// Enhances the image pages, which work without it.
import { readEvents, textReader } from './server-events.js';

// Where a post is shown, what its HTML says must do nothing.
if (!document.querySelector(':root.admin')) throw new Error('not-in-admin');

const form = document.querySelector('[data-image-form]');
const work = document.querySelector('[data-image-work]');
const results = document.querySelector('[data-image-results]');

/** Seconds after which the status mentions that the job continues in the background. */
const longWait = 60;
/** Debounce of the model field, in milliseconds. */
const typingPause = 300;

function element(name, attributes = {}, children = []) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

if (form) {
  followModel();
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (form.hasAttribute('data-sending')) return;
    setBusy(event.submitter, true);
    void generate(event.submitter);
  });
}

/** Shows only the fields that the chosen model supports. */
function followModel() {
  const provider = form.elements.namedItem('provider');
  const model = form.elements.namedItem('model');
  const models = JSON.parse(form.dataset.models);
  const offer = () => {
    const chosen = models.find(({ id }) => id === provider.value);
    model.placeholder = chosen?.defaultModel ?? '';
    document
      .getElementById('image-models')
      .replaceChildren(...(chosen?.models ?? []).map((value) => element('option', { value })));
  };
  let latest = 0;
  const update = async () => {
    const current = (latest += 1);
    const body = new URLSearchParams({
      _nonce: form.elements.namedItem('_nonce').value,
      provider: provider.value,
      model: model.value,
      size: form.elements.namedItem('size').value,
      quality: form.elements.namedItem('quality').value,
    });
    try {
      const response = await fetch(form.dataset.takesUrl, {
        method: 'POST',
        body,
        headers: { Accept: 'application/json' },
      });
      const { data } = await response.json();
      if (current === latest && data) show(data);
    } catch {
      // The fields stay, and the server reports ignored parameters.
    }
  };
  const show = (takes) => {
    const offered = {
      size: takes.size,
      quality: takes.quality.length > 0,
      style: takes.style,
      mask: takes.edit?.mask === true,
    };
    for (const [name, isSupported] of Object.entries(offered)) {
      const field = form.querySelector(`[data-takes="${name}"]`);
      if (!field) continue;
      field.hidden = !isSupported;
      if (!isSupported) for (const input of field.querySelectorAll('input, select')) input.value = '';
    }
    const refusal = form.querySelector('[data-takes-not="edit"]');
    if (refusal) refusal.hidden = takes.edit !== null;
    form.querySelector('[data-price]').textContent = takes.priceText;
  };
  provider.addEventListener('change', () => {
    model.value = models.find(({ id }) => id === provider.value)?.initialModel ?? '';
    offer();
    void update();
  });
  for (const name of ['size', 'quality']) form.elements.namedItem(name).addEventListener('change', () => void update());
  let due = 0;
  model.addEventListener('input', () => {
    window.clearTimeout(due);
    due = window.setTimeout(() => void update(), typingPause);
  });
}

async function generate(button) {
  clearErrors();
  const data = new FormData(form);
  const body = form.enctype === 'multipart/form-data' ? data : new URLSearchParams(data);
  const count = Number(data.get('n')) || 1;
  const status = work.querySelector('[data-image-status]');
  const bar = work.querySelector('[data-image-progress]');
  const started = performance.now();
  let made = 0;
  const showStatus = () => {
    const seconds = Math.round((performance.now() - started) / 1000);
    const images =
      made === 0
        ? count === 1
          ? __('Generating the image')
          : __('Generating {count} images', { count })
        : __('{made} of {count} images generated', { made, count });
    const isLong = seconds >= longWait;
    status.textContent = isLong
      ? `${images}. ${__('This may take a few minutes and continues if you leave the page…')}`
      : `${images}…`;
  };
  work.hidden = false;
  bar.removeAttribute('value');
  waitingTiles(count);
  showStatus();
  const timer = window.setInterval(showStatus, 5000);
  let outcome = {
    event: 'failed',
    data: { message: __('The server did not respond. Check the history before you try again.') },
  };
  try {
    const response = await fetch(form.action, {
      method: 'POST',
      body,
      headers: { Accept: 'text/event-stream, application/json' },
    });
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
      const body = await response.json();
      outcome = {
        event: 'failed',
        data: {
          message: body.notice?.text ?? body.data?.message ?? __('Nothing was generated.'),
          errors: body.data?.errors,
        },
      };
    } else {
      for await (const message of readEvents(textReader(response))) {
        if (message.event !== 'progress') outcome = message;
        else if (message.data.made > 0) {
          made = message.data.made;
          bar.max = count;
          bar.value = made;
          showStatus();
        }
      }
    }
  } catch {
    // The outcome above reports it.
  }
  window.clearInterval(timer);
  finish(outcome, button);
}

function setBusy(button, isBusy) {
  form.toggleAttribute('data-sending', isBusy);
  const label = button?.querySelector('span');
  if (!label) return;
  button.setAttribute('aria-busy', String(isBusy));
  if (isBusy) button.dataset.idleText = label.textContent;
  label.textContent = isBusy ? button.dataset.busy : button.dataset.idleText;
}

function waitingTiles(count) {
  const tiles = Array.from({ length: count }, () =>
    element('li', { class: 'image-tile image-wait', 'aria-hidden': 'true' }, [
      element('span', { class: 'image-picture' }),
    ]),
  );
  results.replaceChildren(element('ul', { class: 'image-grid' }, tiles));
}

function finish({ event, data }, button) {
  const status = work.querySelector('[data-image-status]');
  setBusy(button, false);
  if (event !== 'done') {
    work.hidden = true;
    results.replaceChildren(
      element('div', { class: 'notice notice-error', role: 'alert' }, [
        element('div', { class: 'notice-text' }, [data.message]),
      ]),
    );
    for (const [name, sentence] of Object.entries(data.errors ?? {})) markError(name, sentence);
    button?.focus();
    return;
  }
  work.querySelector('[data-image-progress]').hidden = true;
  status.textContent = data.message;
  results.replaceChildren(
    element('h3', {}, [__('New images')]),
    element('ul', { class: 'image-grid', 'aria-label': __('New images') }, data.images.map(tileOf)),
  );
  results.querySelector('a')?.focus();
  void refreshHistory();
}

async function refreshHistory() {
  const shown = document.getElementById('history');
  if (!shown) return;
  try {
    const page = new DOMParser().parseFromString(await (await fetch(location.pathname)).text(), 'text/html');
    const fresh = page.getElementById('history');
    if (fresh) shown.replaceWith(document.adoptNode(fresh));
  } catch {
    // The next page load shows it.
  }
}

function tileOf({ path, alt, prompt, href, model, costText }) {
  const picture = path ? element('img', { src: path, alt }) : __('File missing');
  const link = element('a', { class: 'image-link', href }, [
    element('span', { class: 'image-picture' }, [picture]),
    element('span', { class: 'image-prompt' }, [prompt]),
  ]);
  const facts = element('span', { class: 'image-facts small muted' }, [
    element('span', {}, [model]),
    element('span', {}, [costText]),
  ]);
  return element('li', { class: 'image-tile' }, [link, facts]);
}

function clearErrors() {
  for (const input of form.querySelectorAll('[aria-invalid]')) input.removeAttribute('aria-invalid');
  for (const sentence of form.querySelectorAll('.field-error:not([data-takes-not])')) sentence.remove();
  work.querySelector('[data-image-progress]').hidden = false;
}

function markError(name, sentence) {
  const input = form.elements.namedItem(name);
  if (!(input instanceof HTMLElement)) return;
  const note = element('p', { class: 'field-error', id: `${input.id}-error` }, [sentence]);
  input.setAttribute('aria-invalid', 'true');
  input.setAttribute('aria-describedby', `${note.id} ${input.getAttribute('aria-describedby') ?? ''}`.trim());
  input.after(note);
}
