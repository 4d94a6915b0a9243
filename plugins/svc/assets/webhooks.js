// Enhances the pages of event webhooks, which work without it.

// Where a post is shown, what its HTML says must do nothing.
if (!document.querySelector(':root.admin')) throw new Error('not-in-admin');

const find = (selector, root = document) => [...root.querySelectorAll(selector)];

/** The checkbox "All" of each module: checked if all events are, indeterminate if some are. */
for (const group of find('[data-event-group]')) {
  const all = group.querySelector('[data-select-all]');
  const boxes = find('input[name="events[]"]', group);
  const show = () => {
    const ticked = boxes.filter((box) => box.checked).length;
    if (all) {
      all.checked = ticked === boxes.length;
      all.indeterminate = ticked > 0 && ticked < boxes.length;
    }
    count();
  };
  all?.addEventListener('change', () => {
    // Only events that the search shows.
    for (const box of boxes) if (!box.closest('[data-event]').hidden) box.checked = all.checked;
    show();
  });
  for (const box of boxes) box.addEventListener('change', show);
  queueMicrotask(show);
}

function count() {
  const output = document.querySelector('[data-event-count]');
  const boxes = find('input[name="events[]"]');
  if (output)
    output.textContent = __('{selected} of {count} selected', {
      selected: boxes.filter((box) => box.checked).length,
      count: boxes.length,
    });
}

const search = document.querySelector('[data-event-search]');
search?.addEventListener('input', () => {
  const terms = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const event of find('[data-event]'))
    event.hidden = !terms.every((term) => event.dataset.event.toLowerCase().includes(term));
  for (const group of find('[data-event-group]'))
    group.hidden = find('[data-event]', group).every((event) => event.hidden);
  const none = document.querySelector('[data-event-none]');
  if (none) none.hidden = find('[data-event-group]').some((group) => !group.hidden);
});
// Enter in the search field must not submit the form.
search?.addEventListener('keydown', (event) => {
  if (event.key === 'Enter') event.preventDefault();
});

/** Retry and Clear: ignores a double click, and disables both once one has succeeded. */
document.addEventListener(
  'submit',
  (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !form.hasAttribute('data-once')) return;
    if (form.dataset.once === 'sent') event.preventDefault();
    else form.dataset.once = 'sent';
  },
  true,
);

document.addEventListener('admin:result', (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || !form.hasAttribute('data-once')) return;
  if (!event.detail?.notice || event.detail.notice.kind === 'error') {
    form.dataset.once = '';
    return;
  }
  for (const button of find('button', form.closest('.failed-job') ?? form)) button.disabled = true;
});
