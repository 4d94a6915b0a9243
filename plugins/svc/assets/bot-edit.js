// Betters the editor of chatbots; everything works without it.
import { startPreview } from './bot-preview.js';
import { startRows } from './bot-rows.js';
import { startSections } from './bot-sections.js';

const editor = document.querySelector('form[data-editor]');

startSections(editor);
startPreview(editor);
if (editor) {
  startRows(editor);
  watchChanges(editor);
}
for (const form of document.querySelectorAll('form[data-editor], form[data-models-form]')) offerModels(form);
for (const colour of document.querySelectorAll('[data-colour]')) joinColour(colour);
if (editor?.querySelector('[data-targets]')) askForTargets(editor);

/** Says that something is not saved yet, and asks before it is lost. */
function watchChanges(form) {
  const state = form.querySelector('[data-save-state]');
  const saved = contentOf(form);
  // A form that came back with mistakes was not saved.
  const refused = form.querySelector('[aria-invalid]') !== null;
  let leaving = false;
  const isChanged = () => refused || contentOf(form) !== saved || form.hasAttribute('data-rearranged');
  const show = () => {
    if (!state) return;
    const changed = isChanged();
    state.classList.toggle('unsaved', changed);
    const words = changed ? 'Not saved yet' : '';
    if (state.textContent !== words) state.textContent = words;
  };
  form.addEventListener('input', show);
  form.addEventListener('change', show);
  form.addEventListener('bot:rows', show);
  document.addEventListener('submit', () => (leaving = true));
  document.addEventListener('bot:stay', () => (leaving = false));
  window.addEventListener('pageshow', () => (leaving = false));
  window.addEventListener('beforeunload', (event) => {
    if (!leaving && isChanged()) event.preventDefault();
  });
  show();
}

function contentOf(form) {
  return new URLSearchParams([...new FormData(form)].filter(([, value]) => typeof value === 'string')).toString();
}

/** The models of the provider that is chosen. */
function offerModels(form) {
  const pairs = [['provider', 'model', 'models-text'], ['knowledge[embedding_provider]', 'knowledge[embedding_model]', 'models-embedding']];
  for (const [providerName, modelName, list] of pairs) {
    const provider = form.elements.namedItem(providerName);
    const model = form.elements.namedItem(modelName);
    if (!(provider instanceof HTMLSelectElement) || !(model instanceof HTMLInputElement)) continue;
    let before = provider.value;
    provider.addEventListener('change', () => {
      const known = (id) => [...(document.getElementById(`${list}-${id}`)?.querySelectorAll('option') ?? [])].map(({ value }) => value);
      // The model there was is hardly one of the other provider.
      if (model.value !== '' && !known(provider.value).includes(model.value) && (known(before).includes(model.value) || known(provider.value).length > 0)) model.value = '';
      before = provider.value;
      model.setAttribute('list', `${list}-${provider.value}`);
    });
  }
}

/** Picker and text of a colour say the same. */
function joinColour(colour) {
  const picker = colour.querySelector('[data-colour-picker]');
  const text = colour.querySelector('[data-colour-text]');
  const clear = colour.querySelector('[data-colour-clear]');
  const tell = () => text.dispatchEvent(new Event('input', { bubbles: true }));
  picker.addEventListener('input', (event) => {
    event.stopPropagation();
    text.value = picker.value;
    tell();
  });
  text.addEventListener('input', () => {
    if (/^#[0-9a-f]{6}$/i.test(text.value)) picker.value = text.value;
    picker.classList.toggle('unset', text.value === '');
    clear.hidden = text.value === '';
  });
  clear.addEventListener('click', () => {
    text.value = '';
    text.focus();
    tell();
  });
}

/** What the chosen vector store holds, without leaving the page. */
function askForTargets(form) {
  const button = form.querySelector('[data-targets-button]');
  const note = form.querySelector('[data-targets-note]');
  button.addEventListener('click', (event) => {
    event.preventDefault();
    button.disabled = true;
    void ask(button, form).then((answer) => {
      button.disabled = false;
      const { names = [], note: words = answer?.notice?.text ?? 'The server did not answer. Try again.' } = answer?.data?.targets ?? {};
      note.textContent = words;
      document.getElementById('targets').replaceChildren(...names.map((name) => new Option(name, name)));
    });
  });
}

async function ask(button, form) {
  try {
    const response = await fetch(button.formAction, { method: 'POST', body: new URLSearchParams(new FormData(form)), headers: { Accept: 'application/json' } });
    return await response.json();
  } catch {
    return null;
  }
}
