// What editors of settings have in common; they work without it.

/**
 * Says that something is not saved yet, and asks before it is lost.
 *
 * @param {HTMLFormElement} form
 */
export function watchChanges(form) {
  const state = form.querySelector('[data-save-state]');
  const saved = contentOf(form);
  // A form that came back with mistakes was not saved.
  const refused = form.querySelector('[aria-invalid]') !== null;
  let leaving = false;
  const isChanged = () => refused || contentOf(form) !== saved || form.hasAttribute('data-rearranged');
  const show = () => {
    const changed = isChanged();
    state.classList.toggle('unsaved', changed);
    const words = changed ? 'Not saved yet' : '';
    if (state.textContent !== words) state.textContent = words;
  };
  for (const name of ['input', 'change', 'bot:rows']) form.addEventListener(name, show);
  document.addEventListener('submit', ({ target, defaultPrevented }) => {
    if (target !== form && defaultPrevented) return;
    // What is tried out in a preview leaves no page.
    leaving = !(target instanceof Element && target.closest('svc-form'));
  });
  window.addEventListener('pageshow', () => (leaving = false));
  window.addEventListener('beforeunload', (event) => {
    if (!leaving && isChanged()) event.preventDefault();
  });
  show();
}

function contentOf(form) {
  return new URLSearchParams([...new FormData(form)].filter(([, value]) => typeof value === 'string')).toString();
}

/**
 * Offers the models of the provider that is chosen, of those for texts and those for embeddings.
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
      // The model there was is hardly one of the other provider.
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
