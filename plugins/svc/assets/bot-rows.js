// Adds, moves and removes rows without a page load. The server renders the page with the new rows and what was typed.
// Only the part with the rows replaces the current one. Nothing is saved.

/** @param {HTMLFormElement} form */
export function startRows(form) {
  if (!form.hasAttribute('data-rows')) return;
  form.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('[data-row-edit]') : null;
    if (!button) return;
    event.preventDefault();
    if (!form.hasAttribute('data-arranging')) void arrange(form, button);
  });
}

async function arrange(form, button) {
  const { value } = button;
  const open = openDetails(form);
  form.setAttribute('data-arranging', '');
  button.setAttribute('aria-busy', 'true');
  try {
    const response = await fetch(button.formAction, {
      method: 'POST',
      body: new URLSearchParams(new FormData(form, button)),
      headers: { Accept: 'text/html' },
    });
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const area = page.querySelector('form[data-rows] [data-row-area]');
    if (!response.ok || !area) throw new Error('The response contains no rows.');
    form.querySelector('[data-row-area]').replaceWith(document.adoptNode(area));
    form.setAttribute('data-rearranged', '');
    reopen(form, open, value);
    focusAfter(form, { value, kind: button.dataset.rowAdd });
    form.dispatchEvent(new CustomEvent('bot:rows', { bubbles: true }));
  } catch {
    // Fall back to a page load, as without JavaScript.
    form.removeAttribute('data-arranging');
    button.removeAttribute('data-row-edit');
    form.requestSubmit(button);
    return;
  }
  form.removeAttribute('data-arranging');
}

function findRows(form) {
  return [...form.querySelectorAll('[data-row]')];
}

function openDetails(form) {
  return findRows(form).map((row) => row.querySelector('details')?.open ?? false);
}

/** Opens the details again that were open, at the new index of their row. */
function reopen(form, open, edit) {
  const [verb, index] = edit.split(':');
  const at = Number(index);
  const states = [...open];
  if (verb === 'remove') states.splice(at, 1);
  if (verb === 'up') states.splice(at - 1, 0, ...states.splice(at, 1));
  if (verb === 'down') states.splice(at + 1, 0, ...states.splice(at, 1));
  findRows(form).forEach((row, position) => {
    const details = row.querySelector('details');
    if (details && states[position]) details.open = true;
  });
}

/** Moves the focus to the row that changed. */
function focusAfter(form, { value, kind }) {
  const [verb, index] = value.split(':');
  const rows = findRows(form);
  const at = Number(index);
  const target = {
    add: () => rows.at(-1)?.querySelector('input:not([type=hidden]), select'),
    remove: () => (rows[Math.min(at, rows.length - 1)] ?? form).querySelector('[data-row-edit]'),
    up: () => rows[at - 1]?.querySelector('[data-row-edit]'),
    down: () => rows[at + 1]?.querySelector('[data-row-edit]'),
  }[verb]?.();
  (target ?? form.querySelector(kind ? `[data-row-add="${kind}"]` : '[data-row-add]'))?.focus();
}
