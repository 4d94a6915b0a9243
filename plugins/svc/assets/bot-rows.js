// Adds, moves and removes rows without a page load. The server renders the page with the new rows and what was typed.
// Only the part with the rows replaces the current one. Nothing is saved. Rows are dragged by their grip; the arrow keys
// move a row whose grip has the focus.

// Where a post is shown, what its HTML says must do nothing.
if (!document.querySelector(':root.admin')) throw new Error('not-in-admin');

/** @param {HTMLFormElement} form */
export function startRows(form) {
  if (!form.hasAttribute('data-rows')) return;
  form.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('[data-row-edit]') : null;
    if (!button) return;
    event.preventDefault();
    void arrange(form, button);
  });
  form.addEventListener('keydown', (event) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (step === undefined || !gripOf(event)) return;
    event.preventDefault();
    const rows = findRows(form);
    const at = rows.indexOf(event.target.closest('[data-row]'));
    if (rows[at + step]) void arrange(form, moveButton(form, at, at + step));
  });
  form.addEventListener('pointerdown', (event) => {
    if (event.button === 0 && gripOf(event)) drag(form, event);
  });
}

function gripOf({ target }) {
  return target instanceof Element ? target.closest('[data-row-grip]') : null;
}

/** What a button would send that moves a row to an index. */
function moveButton(form, at, to) {
  const { formAction } = form.querySelector('[data-row-edit]');
  return Object.assign(document.createElement('button'), { name: '_do', value: `move:${at}:${to}`, formAction });
}

/** Follows the pointer until it is released; a line shows where the row would land. Escape cancels. */
function drag(form, { target, pointerId }) {
  const grip = target.closest('[data-row-grip]');
  const rows = findRows(form);
  const at = rows.indexOf(grip.closest('[data-row]'));
  const ended = new AbortController();
  let to = at;
  const mark = (side) => {
    for (const row of rows) row.removeAttribute('data-drop');
    if (side) rows[to].setAttribute('data-drop', side);
  };
  const end = () => {
    ended.abort();
    mark('');
    rows[at].removeAttribute('data-dragged');
  };
  grip.setPointerCapture(pointerId);
  rows[at].setAttribute('data-dragged', '');
  const listen = (name, run) => grip.addEventListener(name, run, { signal: ended.signal });
  listen('pointermove', ({ clientY }) => {
    const above = rows.filter((row, index) => {
      const { top, height } = row.getBoundingClientRect();
      return index !== at && top + height / 2 < clientY;
    });
    to = above.length;
    mark(to === at ? '' : to < at ? 'before' : 'after');
  });
  listen('pointerup', () => {
    end();
    if (to !== at) void arrange(form, moveButton(form, at, to));
  });
  listen('pointercancel', end);
  listen('keydown', ({ key }) => {
    if (key === 'Escape') end();
  });
}

/** @param {HTMLButtonElement} button whose name and value are sent; it need not be part of the page */
async function arrange(form, button) {
  if (form.hasAttribute('data-arranging')) return;
  const { value } = button;
  const open = openDetails(form);
  form.setAttribute('data-arranging', '');
  button.setAttribute('aria-busy', 'true');
  try {
    const response = await fetch(button.formAction, {
      method: 'POST',
      body: sentBy(form, button),
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
    if (!button.isConnected) form.append(Object.assign(button, { hidden: true, formNoValidate: true }));
    form.requestSubmit(button);
    return;
  }
  form.removeAttribute('data-arranging');
}

function sentBy(form, { name, value }) {
  const body = new URLSearchParams(new FormData(form));
  body.append(name, value);
  return body;
}

function findRows(form) {
  return [...form.querySelectorAll('[data-row]')];
}

function openDetails(form) {
  return findRows(form).map((row) => row.querySelector('details')?.open ?? false);
}

/** Opens the details again that were open, at the new index of their row. */
function reopen(form, open, edit) {
  const [verb, index, to] = edit.split(':');
  const at = Number(index);
  const states = [...open];
  if (verb === 'remove') states.splice(at, 1);
  if (verb === 'up') states.splice(at - 1, 0, ...states.splice(at, 1));
  if (verb === 'down') states.splice(at + 1, 0, ...states.splice(at, 1));
  if (verb === 'move') states.splice(Number(to), 0, ...states.splice(at, 1));
  findRows(form).forEach((row, position) => {
    const details = row.querySelector('details');
    if (details && states[position]) details.open = true;
  });
}

/** Moves the focus to the row that changed. */
function focusAfter(form, { value, kind }) {
  const [verb, index, to] = value.split(':');
  const rows = findRows(form);
  const at = Number(index);
  const target = {
    add: () => rows.at(-1)?.querySelector('input:not([type=hidden]), select'),
    remove: () => (rows[Math.min(at, rows.length - 1)] ?? form).querySelector('[data-row-edit]'),
    up: () => rows[at - 1]?.querySelector('[data-row-edit]'),
    down: () => rows[at + 1]?.querySelector('[data-row-edit]'),
    move: () => rows[Number(to)]?.querySelector('[data-row-grip]'),
  }[verb]?.();
  (target ?? form.querySelector(kind ? `[data-row-add="${kind}"]` : '[data-row-add]'))?.focus();
}
