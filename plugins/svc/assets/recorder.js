// Betters the pages of deliveries; everything works without it.

const busy = 2000;
const idle = 6000;

/** Asks how things stand, as long as the page is seen, and shows the page anew where something has changed. */
function follow(root, address, show) {
  let stamp = root.dataset.stamp ?? '';
  const ask = async () => {
    let next = idle;
    if (!document.hidden) {
      try {
        const body = new URLSearchParams(location.search);
        body.set('_nonce', root.dataset.nonce);
        const response = await fetch(address, { method: 'POST', body, headers: { Accept: 'application/json' } });
        // A session that has ended, or a nonce that is too old: the page says so when something is clicked.
        if (response.status === 401 || response.status === 403) return;
        const { data } = await response.json();
        show?.(data);
        if (data.stamp !== stamp) {
          if (await renew(root)) stamp = data.stamp;
          next = busy;
        } else if (data.waiting > 0) next = busy;
      } catch {
        // The server is away for a moment.
      }
    }
    window.setTimeout(ask, next);
  };
  window.setTimeout(ask, busy);
}

/** Fetches this page and takes over the parts that live. Not while somebody is at work in them. */
async function renew(root) {
  const isAtWork =
    root.querySelector('input[name="ids[]"]:checked') ||
    [...root.querySelectorAll('[data-live]')].some((part) => part.contains(document.activeElement)) ||
    document.querySelector('form[data-sending]');
  if (isAtWork) return false;
  const response = await fetch(location.href);
  if (!response.ok) return false;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const parts = [...root.querySelectorAll('[data-live]')];
  const fresh = parts.map((part) => page.querySelector(`[data-live="${part.dataset.live}"]`));
  // The first delivery ever, or the last one gone: another page altogether.
  if (fresh.some((part) => part === null) || parts.length !== page.querySelectorAll('[data-live]').length) {
    location.reload();
    return true;
  }
  for (const [index, part] of parts.entries()) takeOver(part, fresh[index]);
  return true;
}

/** What was opened stays open. */
function takeOver(part, fresh) {
  const open = [...part.querySelectorAll('details')].map(({ id, open }, index) => ({ id, open, index }));
  part.replaceChildren(...fresh.childNodes);
  for (const { id, open: isOpen, index } of open) {
    const details = id ? document.getElementById(id) : part.querySelectorAll('details')[index];
    if (details && part.contains(details)) details.open = isOpen;
  }
}

const recorder = document.querySelector('[data-recorder]');
if (recorder) {
  follow(recorder, recorder.dataset.recorder, (live) => {
    for (const name of ['waiting', 'inFlight', 'queueAge']) {
      const figure = recorder.querySelector(`[data-figure="${name}"]`);
      if (figure) figure.textContent = Number(live[name]).toLocaleString('en-GB');
    }
    const bars = [...recorder.querySelectorAll('[data-live="replays"] progress')];
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
if (inbox) follow(inbox, inbox.dataset.inbox);

document.addEventListener('change', (event) => {
  const all = event.target;
  if (!(all instanceof HTMLInputElement) || !all.matches('[data-select-all]')) return;
  for (const box of all.form?.querySelectorAll('input[name="ids[]"]') ?? []) box.checked = all.checked;
});

/** Verifying in the browser, so that the secret never leaves it. Browsers offer this on https and on this machine alone. */
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
  const fits = async (key) => (await sign(key, `${attempt.timestamp}.${body}`)) === attempt.signature;
  let verdict = 'other';
  if (attempt.signature === '') verdict = 'unsigned';
  else if (await fits(secret)) verdict = 'match';
  else if (secret.trim() !== '' && secret !== secret.trim() && (await fits(secret.trim()))) verdict = 'spaces';
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
