// Updates the list of videos while some are in progress. Without this script, the page has a "Refresh" link.

// Where a post is shown, what its HTML says must do nothing.
if (!document.querySelector(':root.admin')) throw new Error('not-in-admin');

follow();

function follow() {
  const list = document.querySelector('[data-videos]');
  if (!list?.dataset.running) return;
  list.querySelector('[data-refresh]')?.setAttribute('hidden', '');
  window.setTimeout(() => void update(list), 3000);
}

async function update(list) {
  try {
    const response = await fetch(window.location.href, { headers: { Accept: 'text/html' } });
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const next = page.querySelector('[data-videos]');
    // A video that plays is not interrupted.
    if (response.ok && next && next.textContent !== list.textContent) list.replaceWith(next);
  } catch {
    // The network may be back at the next try.
  }
  follow();
}
