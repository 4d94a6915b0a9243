// Enhances the pages about deliveries, which work without it.

// Where a post is shown, what its HTML says must do nothing.
if (!document.querySelector(':root.admin')) throw new Error('not-in-admin');

const busy = 2000;
const idle = 6000;

/** Polls the progress while the page is visible, and updates the page after a change. */
function poll(root, url, show) {
  let stamp = root.dataset.stamp ?? '';
  const request = async () => {
    let next = idle;
    if (!document.hidden) {
      try {
        const body = new URLSearchParams(location.search);
        body.set('_nonce', root.dataset.nonce);
        const response = await fetch(url, { method: 'POST', body, headers: { Accept: 'application/json' } });
        // The session or nonce has expired: the next click shows that.
        if (response.status === 401 || response.status === 403) return;
        const { data } = await response.json();
        show?.(data);
        if (data.stamp !== stamp) {
          if (await refresh(root)) stamp = data.stamp;
          next = busy;
        } else if (data.waiting > 0) next = busy;
      } catch {
        // The server is temporarily unavailable.
      }
    }
    window.setTimeout(request, next);
  };
  window.setTimeout(request, busy);
}

/** Fetches this page and replaces its live parts, unless they are being used. */
async function refresh(root) {
  const isInUse =
    root.querySelector('input[name="ids[]"]:checked') ||
    [...root.querySelectorAll('[data-live]')].some((part) => part.contains(document.activeElement)) ||
    document.querySelector('form[data-sending]');
  if (isInUse) return false;
  const response = await fetch(location.href);
  if (!response.ok) return false;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const parts = [...root.querySelectorAll('[data-live]')];
  const fresh = parts.map((part) => page.querySelector(`[data-live="${part.dataset.live}"]`));
  // After the first delivery or without any, the page has other parts.
  if (fresh.some((part) => part === null) || parts.length !== page.querySelectorAll('[data-live]').length) {
    location.reload();
    return true;
  }
  for (const [index, part] of parts.entries()) replacePart(part, fresh[index]);
  return true;
}

/** Keeps open details open. */
function replacePart(part, fresh) {
  const open = [...part.querySelectorAll('details')].map(({ id, open }, index) => ({ id, open, index }));
  part.replaceChildren(...fresh.childNodes);
  for (const { id, open: isOpen, index } of open) {
    const details = id ? document.getElementById(id) : part.querySelectorAll('details')[index];
    if (details && part.contains(details)) details.open = isOpen;
  }
}

const log = document.querySelector('[data-delivery-log]');
if (log) {
  poll(log, log.dataset.deliveryLog, (live) => {
    for (const name of ['waiting', 'inFlight', 'queueAge']) {
      const figure = log.querySelector(`[data-figure="${name}"]`);
      if (figure)
        figure.textContent =
          name === 'queueAge' ? live[name] : Number(live[name]).toLocaleString(document.documentElement.lang);
    }
    const bars = [...log.querySelectorAll('[data-live="replays"] progress')];
    for (const [index, replay] of live.replays.entries()) {
      const bar = bars[index];
      if (!bar) continue;
      bar.value = replay.share;
      const text = bar.parentElement?.querySelector('.muted');
      if (text) text.textContent = replay.text;
    }
  });
}

const inbox = document.querySelector('[data-inbox]');
if (inbox) poll(inbox, inbox.dataset.inbox);

document.addEventListener('change', (event) => {
  const all = event.target;
  if (!(all instanceof HTMLInputElement) || !all.matches('[data-select-all]')) return;
  for (const box of all.form?.querySelectorAll('input[name="ids[]"]') ?? []) box.checked = all.checked;
});

/** Verifies in the browser, so that the secret is never sent. WebCrypto requires https or localhost. */
for (const form of document.querySelectorAll('form[data-verify]')) {
  if (!globalThis.crypto?.subtle) continue;
  form.querySelector('[data-without-script]').hidden = true;
  form.querySelector('[data-with-script]').hidden = false;
  const signed = JSON.parse(form.dataset.verify);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    event.stopPropagation();
    void verify(form, signed);
  });
}

async function verify(form, { body, attempts, verdicts }) {
  const secret = form.elements.namedItem('secret').value;
  const attempt =
    attempts.find(({ number }) => String(number) === form.elements.namedItem('attempt').value) ?? attempts.at(-1);
  const matches = async (key) => (await sign(key, `${attempt.timestamp}.${body}`)) === attempt.signature;
  let verdict = 'other';
  if (attempt.signature === '') verdict = 'unsigned';
  else if (await matches(secret)) verdict = 'match';
  else if (secret.trim() !== '' && secret !== secret.trim() && (await matches(secret.trim()))) verdict = 'spaces';
  const text = document.createElement('div');
  text.className = 'notice-text';
  text.textContent = verdicts[verdict];
  const notice = document.createElement('div');
  notice.className = `notice notice-${verdict === 'match' ? 'success' : 'error'}`;
  notice.append(text);
  form.querySelector('[data-verified]').replaceChildren(notice);
}

async function sign(secret, text) {
  const bytes = new TextEncoder();
  const key = await crypto.subtle.importKey('raw', bytes.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
  ]);
  const digest = new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes.encode(text)));
  return `sha256=${[...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
