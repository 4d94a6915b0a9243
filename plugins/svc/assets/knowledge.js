// Updates the indexing progress on the open page; without this script a reload shows it.

// Where a post is shown, what its HTML says must do nothing.
if (!document.querySelector(':root.admin')) throw new Error('not-in-admin');

const every = 1500;

/** Updates the live part of the page, but leaves focused controls and open menus alone. */
async function refresh(live) {
  let text;
  try {
    const response = await fetch(location.href, { headers: { Accept: 'text/html' } });
    if (!response.ok || response.redirected) return live;
    text = await response.text();
  } catch {
    return live;
  }
  const fresh = new DOMParser().parseFromString(text, 'text/html').querySelector('[data-live]');
  if (!fresh || live.querySelector('[data-sending]')) return live;
  const focused = live.contains(document.activeElement) ? document.activeElement : null;
  const words = live.querySelector('[data-live-words]');
  const freshWords = fresh.querySelector('[data-live-words]');
  if (focused || (words && freshWords)) {
    // The sentence stays the same element: screen readers announce what changes in it.
    if (words && freshWords) takeOver(words, freshWords);
    replaceParts(live, fresh, focused);
    live.toggleAttribute('data-live-busy', fresh.hasAttribute('data-live-busy'));
    return live;
  }
  live.replaceWith(fresh);
  return fresh;
}

function takeOver(words, freshWords) {
  if (words.textContent !== freshWords.textContent) words.textContent = freshWords.textContent;
}

function replaceParts(live, fresh, focused) {
  const freshBars = fresh.querySelectorAll(':scope > .progress progress');
  for (const [index, bar] of live.querySelectorAll(':scope > .progress progress').entries())
    if (freshBars[index]) [bar.max, bar.value] = [freshBars[index].max, freshBars[index].value];
  const count = live.querySelector(':scope > .progress .muted');
  const freshCount = fresh.querySelector(':scope > .progress .muted');
  if (count && freshCount) count.textContent = freshCount.textContent;
  replaceUnlessFocused(live.querySelector('.tabs'), fresh.querySelector('.tabs'), focused);
  replaceUnlessFocused(live.querySelector(':scope > .spread'), fresh.querySelector(':scope > .spread'), focused);
  const list = live.querySelector('.kb-sources');
  const freshList = fresh.querySelector('.kb-sources');
  if (!list || !freshList) return;
  for (const row of [...list.children]) {
    const freshRow = freshList.querySelector(`#${CSS.escape(row.id)}`);
    if (freshRow) replaceUnlessFocused(row, freshRow, focused);
    else if (!row.contains(focused)) row.remove();
  }
  for (const row of [...freshList.children].reverse()) if (!document.getElementById(row.id)) list.prepend(row);
}

function replaceUnlessFocused(part, freshPart, focused) {
  if (part && freshPart && !part.contains(focused) && part.outerHTML !== freshPart.outerHTML)
    part.replaceWith(freshPart.cloneNode(true));
}

let isFollowing = false;

async function follow() {
  if (isFollowing) return;
  isFollowing = true;
  let live = document.querySelector('[data-live]');
  while (live?.hasAttribute('data-live-busy')) {
    await new Promise((resolve) => window.setTimeout(resolve, every));
    if (!document.hidden) live = await refresh(live);
  }
  isFollowing = false;
}

/** Shows the sources that were just uploaded, and follows them. */
async function showUploads() {
  const live = document.querySelector('[data-live]');
  if (!isFollowing && live) await refresh(live);
  await follow();
}

// The page of a rejected form has an address that cannot be requested again.
if (new URLSearchParams(location.search).has('id')) {
  void follow();
  document.querySelector('[data-dropzone]')?.addEventListener('sent', () => void showUploads());
}
