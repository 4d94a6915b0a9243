// Improves the AI service pages. They also work without it.

// Where a post is shown, what its HTML says must do nothing.
if (!document.querySelector(':root.admin')) throw new Error('not-in-admin');

/** Shows the result of a background test: models, the badge, saved secrets, errors at their fields. */
function show(form, data) {
  clearErrors(form);
  for (const [name, sentence] of Object.entries(data.errors ?? {})) markError(form, name, sentence);
  if (data.models?.syncedAt) offerModels(form, data.models);
  if (data.badge) {
    const badge = form.closest('details')?.querySelector('summary .badge');
    if (badge) {
      badge.textContent = data.badge.text;
      badge.className = `badge badge-${data.badge.kind}`;
    }
    if (data.badge.kind === 'success') form.querySelector('[data-missing]')?.remove();
  }
  for (const [name, state] of Object.entries(data.secrets ?? {})) showSecret(form, name, state);
}

function offerModels(form, models) {
  for (const list of form.querySelectorAll('datalist[data-kind]')) {
    list.replaceChildren(
      ...(models[list.dataset.kind] ?? []).map((model) => {
        const option = document.createElement('option');
        option.value = model;
        return option;
      }),
    );
  }
  const note = form.querySelector('[data-models]');
  if (note)
    note.textContent = __('Models available, loaded just now: {count}. You can also type another name.', {
      count: models.count,
    });
}

function showSecret(form, name, state) {
  const input = form.elements.namedItem(name);
  if (!(input instanceof HTMLInputElement)) return;
  const note = document.getElementById(`${input.id}-state`);
  if (state.saved) input.placeholder = __('Leave empty to keep the saved value');
  if (state.saved) input.value = '';
  if (note)
    note.textContent = state.saved
      ? state.ending
        ? __('Saved, ends in ····{ending}', { ending: state.ending })
        : __('Saved')
      : __('Nothing saved yet');
}

function clearErrors(form) {
  for (const input of form.querySelectorAll('[aria-invalid]')) input.removeAttribute('aria-invalid');
  for (const sentence of form.querySelectorAll('.field-error')) sentence.remove();
}

function markError(form, name, sentence) {
  const input = form.elements.namedItem(name);
  if (!(input instanceof HTMLElement)) return;
  const note = document.createElement('p');
  note.className = 'field-error';
  note.id = `${input.id}-error`;
  note.textContent = sentence;
  input.setAttribute('aria-invalid', 'true');
  input.setAttribute('aria-describedby', `${note.id} ${input.getAttribute('aria-describedby') ?? ''}`.trim());
  input.after(note);
}

document.addEventListener('admin:result', (event) => {
  const data = event.detail?.data;
  if (event.target instanceof HTMLFormElement && data) show(event.target, data);
});
