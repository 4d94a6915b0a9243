// Live updates for the pages of automations. The pages work without it.

// Where a post is shown, what its HTML says must do nothing.
if (!document.querySelector(':root.admin')) throw new Error('not-in-admin');

/** Milliseconds between two polls while items are open, and otherwise. */
const busy = 1500;
const idle = 8000;
/** Minimum time between two announcements to screen readers, in milliseconds. */
const between = 5000;

const page = document.querySelector('[data-live-page]');
if (page) follow(page);

/** Polls the state while the page is visible, and refreshes the live regions when it changes. */
function follow(root) {
  let stamp = root.dataset.stamp ?? '';
  let announcedAt = 0;
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
        // The session ended or the task was deleted: the next click shows the error.
        if ([401, 403, 404].includes(response.status)) return;
        const { data } = await response.json();
        root.toggleAttribute('data-busy-now', data.busy);
        next = data.busy ? busy : idle;
        if (data.progress) showProgress(root, data.progress);
        if (data.stamp !== stamp && (await refresh(root))) {
          stamp = data.stamp;
          if (data.progress && (performance.now() - announcedAt > between || !data.busy)) {
            announcedAt = performance.now();
            root.querySelector('[data-progress-status]')?.replaceChildren(`${data.progress.text}.`);
          }
        }
      } catch {
        // The server is unavailable; the next poll tries again.
      }
    }
    window.setTimeout(ask, next);
  };
  window.setTimeout(ask, busy);
}

function showProgress(root, { done, succeeded, total, text }) {
  const bar = root.querySelector('[data-progress] progress');
  if (!bar) return;
  const upper = bar.parentElement.querySelector('[data-succeeded]');
  bar.max = total;
  bar.value = done;
  upper.max = total;
  upper.value = succeeded;
  bar.closest('.progress').querySelector('.muted')?.replaceChildren(text);
}

/** Fetches this page and replaces its live regions. Skipped while a form is being sent. */
async function refresh(root) {
  const parts = [...root.querySelectorAll('[data-live]')];
  if (document.querySelector('form[data-sending]')) return false;
  const response = await fetch(location.href);
  if (!response.ok) return false;
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
  const freshParts = [...fresh.querySelectorAll('[data-live]')];
  // The regions differ, for example after the first item or a new task.
  if (freshParts.map(({ dataset }) => dataset.live).join() !== parts.map(({ dataset }) => dataset.live).join()) {
    location.reload();
    return true;
  }
  for (const [index, part] of parts.entries()) replacePart(part, freshParts[index]);
  return true;
}

/** Replaces the content of a region; focus and open details are restored. */
function replacePart(part, fresh) {
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

/** In the editor, only the fields of the chosen source and schedule are visible. */
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
