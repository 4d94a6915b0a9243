// The search of the admin as a dialog: Ctrl+K or Cmd+K, arrow keys, Enter. The link leads to the same search as a page.

// Where a post is shown, what its HTML says must do nothing.
if (!document.querySelector(':root.admin')) throw new Error('not-in-admin');

const link = document.querySelector('[data-search]');
const dialog = document.createElement('dialog');
dialog.className = 'dialog search-dialog';
dialog.setAttribute('aria-label', __('Search the admin'));
const input = document.createElement('input');
for (const [name, value] of Object.entries({
  class: 'input',
  // The first Escape would only empty a field of the type search.
  type: 'text',
  inputmode: 'search',
  role: 'combobox',
  maxlength: '100',
  placeholder: __('Go to a page, post or chatbot'),
  'aria-label': __('Search'),
  'aria-expanded': 'true',
  'aria-controls': 'search-results',
  'aria-autocomplete': 'list',
  autocomplete: 'off',
}))
  input.setAttribute(name, value);
const list = document.createElement('ul');
list.id = 'search-results';
list.className = 'search-results';
list.setAttribute('role', 'listbox');
list.setAttribute('aria-label', __('Results'));
const status = document.createElement('p');
status.className = 'muted small';
status.setAttribute('role', 'status');
dialog.append(input, list, status);
document.body.append(dialog);

let marked = 0;
let latest = 0;
let timer = 0;

export function open() {
  if (dialog.open) return;
  input.value = '';
  dialog.showModal();
  input.focus();
  void find();
}

async function find() {
  const turn = ++latest;
  try {
    const response = await fetch(`${link.dataset.search}?q=${encodeURIComponent(input.value)}`, {
      headers: { Accept: 'application/json' },
    });
    const { results = [], notice } = await response.json();
    if (turn === latest) show(results, notice?.text);
  } catch {
    if (turn === latest) show([], __('The server did not respond. Try again.'));
  }
}

function show(results, problem) {
  marked = 0;
  list.replaceChildren(
    ...results.map(({ title, note, href }, index) => {
      const option = document.createElement('li');
      option.id = `search-result-${index}`;
      option.setAttribute('role', 'option');
      option.dataset.href = href;
      const name = document.createElement('span');
      name.textContent = title;
      const about = document.createElement('span');
      about.className = 'muted small';
      about.textContent = note;
      option.append(name, about);
      return option;
    }),
  );
  status.textContent = problem ?? (results.length === 0 ? __('Nothing found.') : '');
  mark(0);
}

function mark(index) {
  const options = [...list.children];
  if (options.length === 0) return input.removeAttribute('aria-activedescendant');
  marked = (index + options.length) % options.length;
  for (const [at, option] of options.entries()) option.setAttribute('aria-selected', String(at === marked));
  input.setAttribute('aria-activedescendant', options[marked].id);
  options[marked].scrollIntoView({ block: 'nearest' });
}

input.addEventListener('input', () => {
  window.clearTimeout(timer);
  timer = window.setTimeout(find, 120);
});
input.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    mark(marked + (event.key === 'ArrowDown' ? 1 : -1));
  }
  if (event.key !== 'Enter') return;
  event.preventDefault();
  const chosen = list.children[marked];
  if (chosen) location.assign(chosen.dataset.href);
});
list.addEventListener('click', (event) => {
  const option = event.target.closest('[role="option"]');
  if (option) location.assign(option.dataset.href);
});
// A click on the backdrop has the dialog itself as target.
dialog.addEventListener('click', (event) => {
  if (event.target === dialog) dialog.close();
});
