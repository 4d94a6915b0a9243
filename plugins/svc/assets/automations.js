// Betters the pages of automations; everything works without it.

const busy = 1500;
const idle = 8000;
/** How often somebody who listens is told how far it is, at most. */
const between = 5000;

const page = document.querySelector('[data-live-page]');
if (page) follow(page);

/** Asks how things stand, as long as the page is seen, and shows it anew where something has changed. */
function follow(root) {
  let stamp = root.dataset.stamp ?? '';
  let toldAt = 0;
  const ask = async () => {
    let next = root.hasAttribute('data-busy-now') ? busy : idle;
    if (!document.hidden) {
      try {
        const body = new URLSearchParams({ _nonce: root.dataset.nonce, id: root.dataset.liveId ?? '' });
        const response = await fetch(root.dataset.livePage, {
          method: 'POST',
          body,
          headers: { Accept: 'application/json' },
        });
        // A session that has ended, or a task that is gone: the page says so when something is clicked.
        if ([401, 403, 404].includes(response.status)) return;
        const { data } = await response.json();
        root.toggleAttribute('data-busy-now', data.busy);
        next = data.busy ? busy : idle;
        if (data.progress) showProgress(root, data.progress);
        if (data.stamp !== stamp && (await renew(root))) {
          stamp = data.stamp;
          if (data.progress && (performance.now() - toldAt > between || !data.busy)) {
            toldAt = performance.now();
            root.querySelector('[data-progress-status]')?.replaceChildren(`${data.progress.text}.`);
          }
        }
      } catch {
        // The server is away for a moment.
      }
    }
    window.setTimeout(ask, next);
  };
  window.setTimeout(ask, busy);
}

function showProgress(root, { done, total, text }) {
  const bar = root.querySelector('[data-progress] progress');
  if (!bar) return;
  bar.max = total;
  bar.value = done;
  bar.parentElement.querySelector('.muted')?.replaceChildren(text);
}

/** Fetches this page and takes over the parts that live. Not while somebody is at work in them. */
async function renew(root) {
  const parts = [...root.querySelectorAll('[data-live]')];
  if (document.querySelector('form[data-sending]')) return false;
  const response = await fetch(location.href);
  if (!response.ok) return false;
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
  const places = [...fresh.querySelectorAll('[data-live]')];
  // The first items ever, a new task: another page altogether.
  if (places.map(({ dataset }) => dataset.live).join() !== parts.map(({ dataset }) => dataset.live).join()) {
    location.reload();
    return true;
  }
  for (const [index, part] of parts.entries()) takeOver(part, places[index]);
  return true;
}

/** What is in focus stays in focus, what was opened stays open. */
function takeOver(part, fresh) {
  if (part.innerHTML === fresh.innerHTML) return;
  const focus = part.contains(document.activeElement) ? keyOf(part, document.activeElement) : null;
  const open = [...part.querySelectorAll('details')].map(({ open }) => open);
  part.replaceChildren(...fresh.childNodes);
  for (const [index, details] of [...part.querySelectorAll('details')].entries()) details.open = open[index] ?? false;
  if (focus !== null) (find(part, focus) ?? part.querySelector('a, button'))?.focus();
}

function keyOf(part, element) {
  const label = element.getAttribute('aria-label') ?? element.getAttribute('href') ?? element.textContent;
  return { tag: element.localName, label };
}

function find(part, { tag, label }) {
  return [...part.querySelectorAll(tag)].find((element) => keyOf(part, element).label === label);
}

/** Of the editor: what belongs to another source or schedule is out of the way. */
const form = document.querySelector('[data-task-form]');
if (form) {
  const show = () => {
    const source = form.querySelector('input[name="source[kind]"]:checked')?.value;
    for (const part of form.querySelectorAll('[data-source]')) part.hidden = part.dataset.source !== source;
    const schedule = form.elements.namedItem('schedule').value;
    for (const part of form.querySelectorAll('[data-schedule]')) part.hidden = part.dataset.schedule !== schedule;
  };
  form.addEventListener('change', show);
  show();
}
