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

/** Shows which of the last events the typed filter matches. */
const trial = document.querySelector('[data-filter-trial]');
const filter = trial?.closest('form').querySelector('textarea[name="filter"]');
if (filter) {
  const form = trial.closest('form');
  const summary = trial.querySelector('[data-filter-summary]');
  const details = trial.querySelector('details');
  let [timer, latest] = [0, 0];
  const tryIt = async () => {
    const turn = (latest += 1);
    const body = new URLSearchParams({ _nonce: trial.dataset.nonce, filter: filter.value });
    for (const box of find('input[name="events[]"]:checked', form)) body.append('events[]', box.value);
    try {
      const init = { method: 'POST', body, headers: { Accept: 'application/json' } };
      const { data } = await (await fetch(trial.dataset.filterTrial, init)).json();
      if (turn === latest) showTrial(data);
    } catch {
      // The server is temporarily unavailable: saving checks the filter, too.
    }
  };
  const showTrial = ({ error, events }) => {
    const matching = events.filter(({ matches }) => matches).length;
    summary.classList.toggle('field-error', error !== null);
    summary.textContent =
      error ??
      (events.length === 0
        ? __('No event has been sent yet that it can be tried on.')
        : __('{matching} of the last {count} events match.', { matching, count: events.length }));
    details.hidden = events.length === 0;
    details.querySelector('ul').replaceChildren(
      ...events.map(({ name, about, at, matches }) => {
        const item = document.createElement('li');
        item.className = matches ? 'filter-match' : 'filter-other';
        item.textContent = [matches ? __('matches') : __('is not sent'), name, about, at].filter(Boolean).join(' · ');
        return item;
      }),
    );
  };
  const later = () => {
    window.clearTimeout(timer);
    if (filter.value.trim() === '') {
      latest += 1;
      showTrial({ error: null, events: [] });
      summary.textContent = '';
    } else timer = window.setTimeout(tryIt, 400);
  };
  filter.addEventListener('input', later);
  for (const box of find('input[name="events[]"]', form)) box.addEventListener('change', later);
  later();
}

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
