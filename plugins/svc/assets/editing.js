// Shared by editors of settings. They work without it.

// Where a post is shown, what its HTML says must do nothing.
if (!document.querySelector(':root.admin')) throw new Error('not-in-admin');

/**
 * Shows that there are unsaved changes, and asks before the page is left.
 *
 * @param {HTMLFormElement} form
 */
export function watchChanges(form) {
  const state = form.querySelector('[data-save-state]');
  const saved = readContent(form);
  // A form with errors was not saved.
  const refused = form.querySelector('[aria-invalid]') !== null;
  let leaving = false;
  const isChanged = () => refused || readContent(form) !== saved || form.hasAttribute('data-rearranged');
  const show = () => {
    const changed = isChanged();
    state.classList.toggle('unsaved', changed);
    const text = changed ? __('Not saved yet') : '';
    if (state.textContent !== text) state.textContent = text;
  };
  for (const name of ['input', 'change', 'bot:rows']) form.addEventListener(name, show);
  document.addEventListener('submit', ({ target, defaultPrevented }) => {
    if (target !== form && defaultPrevented) return;
    // Forms in a preview do not leave the page.
    leaving = !(target instanceof Element && target.closest('svc-form'));
  });
  window.addEventListener('pageshow', () => (leaving = false));
  window.addEventListener('beforeunload', (event) => {
    if (!leaving && isChanged()) event.preventDefault();
  });
  show();
}

function readContent(form) {
  return new URLSearchParams([...new FormData(form)].filter(([, value]) => typeof value === 'string')).toString();
}

/**
 * Offers the models of the chosen provider, for text and for embeddings.
 *
 * @param {HTMLFormElement} form
 */
export function offerModels(form) {
  for (const [providerName, modelName, list] of [
    ['provider', 'model', 'models-text'],
    ['knowledge[embedding_provider]', 'knowledge[embedding_model]', 'models-embedding'],
  ]) {
    const provider = form.elements.namedItem(providerName);
    const model = form.elements.namedItem(modelName);
    if (!(provider instanceof HTMLSelectElement) || !(model instanceof HTMLInputElement)) continue;
    let before = provider.value;
    provider.addEventListener('change', () => {
      const known = (id) =>
        [...(document.getElementById(`${list}-${id}`)?.querySelectorAll('option') ?? [])].map(({ value }) => value);
      // The model of the former provider is unlikely to exist at the new one.
      if (
        model.value !== '' &&
        !known(provider.value).includes(model.value) &&
        (known(before).includes(model.value) || known(provider.value).length > 0)
      )
        model.value = '';
      before = provider.value;
      model.setAttribute('list', `${list}-${provider.value}`);
    });
  }
}
