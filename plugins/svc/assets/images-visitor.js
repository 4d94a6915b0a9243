// Enhances the form of [svc_images], which works without it: stays on the page and shows the progress.

/** In milliseconds. */
const pollInterval = 1500;

for (const section of document.querySelectorAll('[data-svc-images]')) {
  const form = section.querySelector('form');
  if (form) start(section, form);
}

function start(section, form) {
  const status = section.querySelector('[data-status]');
  const grid = section.querySelector('[data-results]');
  const button = form.querySelector('button');
  const say = (parts) => status.replaceChildren(...parts);
  let isBusy = false;
  // The idempotency key of the next request.
  let request = crypto.randomUUID?.() ?? null;

  void post(`${form.action}/mine`, {})
    .then(({ ok, body }) => {
      if (ok) for (const image of body.images) grid.append(itemOf(image));
      grid.hidden = grid.childElementCount === 0;
      if (ok) showLeft(body.left);
    })
    .catch(() => undefined);

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (!isBusy) void generate();
  });

  async function generate() {
    setBusy(true);
    const job = readJob(form);
    const { n } = job;
    say([
      n === 1
        ? __('Generating your image. This takes a moment…')
        : __('Generating {count} images. This takes a moment…', { count: n }),
      progress(),
    ]);
    try {
      let { ok, body } = await post(form.action, { ...job, ...(request && { request }) });
      while (ok && body.state === 'drawing') {
        await new Promise((resolve) => window.setTimeout(resolve, pollInterval));
        ({ ok, body } = await post(`${form.action}/state`, { id: body.id }));
      }
      finish(ok, body);
    } catch {
      say([__('The site could not be reached. Check your connection and try again.')]);
    }
    setBusy(false);
  }

  function finish(ok, body) {
    // A new attempt needs a new key.
    request = crypto.randomUUID?.() ?? null;
    if (!ok || body.state === 'failed') {
      say([body.message ?? __('The image could not be generated. Try again later.')]);
      return;
    }
    grid.prepend(...body.images.map(itemOf));
    grid.hidden = false;
    say([
      body.message ||
        (body.images.length === 1
          ? __('Your image is ready.')
          : __('{count} images are ready.', { count: body.images.length })),
    ]);
    showLeft(body.left, true);
    grid.querySelector('a')?.focus();
  }

  function showLeft(left, isMore = false) {
    if (left === null || left === undefined) return;
    const note = left === 1 ? __('1 image left today.') : __('{count} images left today.', { count: left });
    if (isMore) status.append(` ${note}`);
    else status.textContent = note;
  }

  function setBusy(value) {
    isBusy = value;
    button.setAttribute('aria-disabled', String(value));
  }
}

function readJob(form) {
  const data = new FormData(form);
  const job = {
    token: data.get('token'),
    prompt: data.get('prompt'),
    n: Number(data.get('n') ?? 1),
    consent: data.get('consent') === '1',
  };
  for (const name of ['model', 'size']) if (data.get(name)) job[name] = data.get(name);
  return job;
}

function progress() {
  const bar = document.createElement('progress');
  bar.setAttribute('aria-label', __('Generating'));
  return bar;
}

/** Uses paths, because a page may be open under another host name of the site. */
function itemOf({ url, alt }) {
  const path = new URL(url).pathname;
  const item = document.createElement('li');
  const picture = document.createElement('a');
  picture.href = path;
  const image = document.createElement('img');
  image.src = path;
  image.alt = alt;
  image.loading = 'lazy';
  image.dataset.aiDisclosure = 'ai-generated';
  picture.append(image);
  const download = document.createElement('a');
  download.href = path;
  download.download = '';
  download.textContent = __('Download');
  download.setAttribute('aria-label', __('Download: {alt}', { alt }));
  item.append(picture, download);
  return item;
}

async function post(address, body) {
  const response = await fetch(new URL(address).pathname, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { ok: response.ok, body: await response.json() };
}
