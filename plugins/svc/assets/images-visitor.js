// Betters the form of [svc_images]: the page stays, and says how far the drawing is. It works without.

/** Milliseconds between two looks. */
const pause = 1500;

for (const place of document.querySelectorAll('[data-svc-images]')) {
  const form = place.querySelector('form');
  if (form) start(place, form);
}

function start(place, form) {
  const status = place.querySelector('[data-status]');
  const grid = place.querySelector('[data-results]');
  const button = form.querySelector('button');
  const say = (parts) => status.replaceChildren(...parts);
  let isBusy = false;
  // Named once for what is typed: sent twice, it is drawn once.
  let request = crypto.randomUUID?.() ?? null;

  void post(`${form.action}/mine`, {})
    .then(({ ok, body }) => {
      if (ok) for (const image of body.images) grid.append(itemOf(image));
      grid.hidden = grid.childElementCount === 0;
      if (ok) tellLeft(body.left);
    })
    .catch(() => undefined);

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (!isBusy) void draw();
  });

  async function draw() {
    setBusy(true);
    const wish = wishOf(form);
    const { n } = wish;
    say([
      n === 1 ? 'Your image is being drawn. This takes a moment…' : `${n} images are being drawn. This takes a moment…`,
      progress(),
    ]);
    try {
      let { ok, body } = await post(form.action, { ...wish, ...(request && { request }) });
      while (ok && body.state === 'drawing') {
        await new Promise((resolve) => window.setTimeout(resolve, pause));
        ({ ok, body } = await post(`${form.action}/state`, { id: body.id }));
      }
      finish(ok, body);
    } catch {
      say(['The site could not be reached. Check your connection and try again.']);
    }
    setBusy(false);
  }

  function finish(ok, body) {
    // What was refused is not asked for again under the same name.
    request = crypto.randomUUID?.() ?? null;
    if (!ok || body.state === 'failed') {
      say([body.message ?? 'The image could not be drawn. Try again later.']);
      return;
    }
    grid.prepend(...body.images.map(itemOf));
    grid.hidden = false;
    say([
      body.message || (body.images.length === 1 ? 'Your image is ready.' : `${body.images.length} images are ready.`),
    ]);
    tellLeft(body.left, true);
    grid.querySelector('a')?.focus();
  }

  function tellLeft(left, isMore = false) {
    if (left === null || left === undefined) return;
    const note = `${left === 1 ? '1 more image' : `${left} more images`} today.`;
    if (isMore) status.append(` ${note}`);
    else status.textContent = note;
  }

  function setBusy(value) {
    isBusy = value;
    button.setAttribute('aria-disabled', String(value));
  }
}

function wishOf(form) {
  const data = new FormData(form);
  const wish = {
    token: data.get('token'),
    prompt: data.get('prompt'),
    n: Number(data.get('n') ?? 1),
    consent: data.get('consent') === '1',
  };
  for (const name of ['model', 'size']) if (data.get(name)) wish[name] = data.get(name);
  return wish;
}

function progress() {
  const bar = document.createElement('progress');
  bar.setAttribute('aria-label', 'Drawing');
  return bar;
}

/** Pictures stand under whichever name of the site the page is looked at. */
function itemOf({ url, alt }) {
  const path = new URL(url).pathname;
  const item = document.createElement('li');
  const picture = document.createElement('a');
  picture.href = path;
  const image = document.createElement('img');
  image.src = path;
  image.alt = alt;
  image.loading = 'lazy';
  picture.append(image);
  const download = document.createElement('a');
  download.href = path;
  download.download = '';
  download.textContent = 'Download';
  download.setAttribute('aria-label', `Download: ${alt}`);
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
