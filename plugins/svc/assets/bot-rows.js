// Rows that are added, moved and removed without a page of their own. The server makes them: it answers the page with the
// rows as they are to be, and what was typed; of it the part with the rows is taken over. Nothing is saved by it.

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
    if (!response.ok || !area) throw new Error('The answer holds no rows.');
    form.querySelector('[data-row-area]').replaceWith(document.adoptNode(area));
    form.setAttribute('data-rearranged', '');
    reopen(form, open, value);
    focusAfter(form, { value, kind: button.dataset.rowAdd });
    form.dispatchEvent(new CustomEvent('bot:rows', { bubbles: true }));
  } catch {
    // As it would be without JavaScript: the answer becomes the page, or says what is wrong.
    form.removeAttribute('data-arranging');
    button.removeAttribute('data-row-edit');
    form.requestSubmit(button);
    return;
  }
  form.removeAttribute('data-arranging');
}

function rowsOf(form) {
  return [...form.querySelectorAll('[data-row]')];
}

function openDetails(form) {
  return rowsOf(form).map((row) => row.querySelector('details')?.open ?? false);
}

/** Details that were open are open again, wherever their row is now. */
function reopen(form, open, asked) {
  const [verb, place] = asked.split(':');
  const at = Number(place);
  const states = [...open];
  if (verb === 'remove') states.splice(at, 1);
  if (verb === 'up') states.splice(at - 1, 0, ...states.splice(at, 1));
  if (verb === 'down') states.splice(at + 1, 0, ...states.splice(at, 1));
  rowsOf(form).forEach((row, index) => {
    const details = row.querySelector('details');
    if (details && states[index]) details.open = true;
  });
}

/** The keyboard goes on where something happened. */
function focusAfter(form, { value, kind }) {
  const [verb, place] = value.split(':');
  const rows = rowsOf(form);
  const at = Number(place);
  const target = {
    add: () => rows.at(-1)?.querySelector('input:not([type=hidden]), select'),
    remove: () => (rows[Math.min(at, rows.length - 1)] ?? form).querySelector('[data-row-edit]'),
    up: () => rows[at - 1]?.querySelector('[data-row-edit]'),
    down: () => rows[at + 1]?.querySelector('[data-row-edit]'),
  }[verb]?.();
  (target ?? form.querySelector(kind ? `[data-row-add="${kind}"]` : '[data-row-add]'))?.focus();
}
