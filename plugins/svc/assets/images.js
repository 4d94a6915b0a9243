// Betters the image pages; everything works without it.

const form = document.querySelector('[data-image-form]');
const work = document.querySelector('[data-image-work]');
const results = document.querySelector('[data-image-results]');

/** Seconds without a sign of life, after which somebody waiting should know that it still goes on. */
const longWait = 60;
/** Milliseconds without a key pressed, after which the fields follow. */
const typingPause = 300;

function element(name, attributes = {}, children = []) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

if (form) {
  followModel();
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (form.hasAttribute('data-sending')) return;
    setBusy(event.submitter, true);
    void draw(event.submitter);
  });
}

/** Fields follow the provider and model that are chosen: what the model does not take is not offered. */
function followModel() {
  const provider = form.elements.namedItem('provider');
  const model = form.elements.namedItem('model');
  const models = JSON.parse(form.dataset.models);
  const offer = () => {
    const chosen = models.find(({ id }) => id === provider.value);
    model.placeholder = chosen?.usual ?? '';
    document
      .getElementById('image-models')
      .replaceChildren(...(chosen?.models ?? []).map((value) => element('option', { value })));
  };
  let asked = 0;
  const ask = async () => {
    const turn = (asked += 1);
    const body = new URLSearchParams({
      _nonce: form.elements.namedItem('_nonce').value,
      provider: provider.value,
      model: model.value,
    });
    try {
      const response = await fetch(form.dataset.takesUrl, {
        method: 'POST',
        body,
        headers: { Accept: 'application/json' },
      });
      const { data } = await response.json();
      if (turn === asked && data) show(data);
    } catch {
      // The fields stay as they are: the server says what it left out.
    }
  };
  const show = (takes) => {
    const offered = {
      size: takes.size,
      quality: takes.quality.length > 0,
      style: takes.style,
      mask: takes.edit?.mask === true,
    };
    for (const [name, isTaken] of Object.entries(offered)) {
      const field = form.querySelector(`[data-takes="${name}"]`);
      if (!field) continue;
      field.hidden = !isTaken;
      if (!isTaken) for (const input of field.querySelectorAll('input, select')) input.value = '';
    }
    const refusal = form.querySelector('[data-takes-not="edit"]');
    if (refusal) refusal.hidden = takes.edit !== null;
    form.querySelector('[data-price]').textContent = takes.priceText;
  };
  provider.addEventListener('change', () => {
    model.value = '';
    offer();
    void ask();
  });
  let due = 0;
  model.addEventListener('input', () => {
    window.clearTimeout(due);
    due = window.setTimeout(() => void ask(), typingPause);
  });
}

async function draw(button) {
  clearErrors();
  const data = new FormData(form);
  // Files go as the form says; other pages take none.
  const body = form.enctype === 'multipart/form-data' ? data : new URLSearchParams(data);
  const count = Number(data.get('n')) || 1;
  const status = work.querySelector('[data-image-status]');
  const bar = work.querySelector('[data-image-progress]');
  const started = performance.now();
  let made = 0;
  const tell = () => {
    const seconds = Math.round((performance.now() - started) / 1000);
    const images =
      made === 0
        ? count === 1
          ? 'The image is being drawn'
          : `${count} images are being drawn`
        : `${made} of ${count} drawn`;
    status.textContent = `${images}${seconds >= longWait ? '. This may take a few minutes; it goes on if you leave the page' : ''}…`;
  };
  work.hidden = false;
  bar.removeAttribute('value');
  waitingTiles(count);
  tell();
  const timer = window.setInterval(tell, 5000);
  let outcome = {
    event: 'failed',
    data: { message: 'The server did not answer. Look into the history before you try again: it may have been drawn.' },
  };
  try {
    const response = await fetch(form.action, {
      method: 'POST',
      body,
      headers: { Accept: 'text/event-stream, application/json' },
    });
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
      const answer = await response.json();
      outcome = {
        event: 'failed',
        data: {
          message: answer.notice?.text ?? answer.data?.message ?? 'Nothing was drawn.',
          errors: answer.data?.errors,
        },
      };
    } else {
      for await (const message of events(response)) {
        if (message.event !== 'progress') outcome = message;
        else if (message.data.made > 0) {
          made = message.data.made;
          bar.max = count;
          bar.value = made;
          tell();
        }
      }
    }
  } catch {
    // Said by the outcome as it is.
  }
  window.clearInterval(timer);
  finish(outcome, button);
}

/** The events of a stream, one after the other. */
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += part.value;
    const blocks = text.split('\n\n');
    text = blocks.pop();
    for (const block of blocks) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
      if (event) yield { event, data: JSON.parse(data) };
    }
  }
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
    element('h3', {}, ['Just drawn']),
    element('ul', { class: 'image-grid', 'aria-label': 'Images just drawn' }, data.images.map(tileOf)),
  );
  results.querySelector('a')?.focus();
  void renewHistory();
}

/** The history holds what was just drawn. */
async function renewHistory() {
  const shown = document.getElementById('history');
  if (!shown) return;
  try {
    const page = new DOMParser().parseFromString(await (await fetch(location.pathname)).text(), 'text/html');
    const renewed = page.getElementById('history');
    if (renewed) shown.replaceWith(document.adoptNode(renewed));
  } catch {
    // It is there when the page is opened again.
  }
}

function tileOf({ path, alt, prompt, href, model, costText }) {
  const picture = path ? element('img', { src: path, alt }) : 'The file is gone';
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
