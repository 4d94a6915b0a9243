// Improves the editor of chatbots. Everything works without it.
import { startPreview } from './bot-preview.js';
import { startRows } from './bot-rows.js';
import { startSections } from './bot-sections.js';
import { offerModels, watchChanges } from './editing.js';

// Where a post is shown, what its HTML says must do nothing.
if (!document.querySelector(':root.admin')) throw new Error('not-in-admin');

const editor = document.querySelector('form[data-editor]');

startSections(editor);
startPreview(editor);
if (editor) {
  startRows(editor);
  watchChanges(editor);
}
for (const form of document.querySelectorAll('form[data-editor], form[data-models-form]')) offerModels(form);
for (const field of document.querySelectorAll('[data-color]')) syncColor(field);
if (editor?.querySelector('[data-targets]')) loadTargets(editor);

/** Keeps the picker and the text of a color in sync. */
function syncColor(field) {
  const picker = field.querySelector('[data-color-picker]');
  const text = field.querySelector('[data-color-text]');
  const clear = field.querySelector('[data-color-clear]');
  const notify = () => text.dispatchEvent(new Event('input', { bubbles: true }));
  picker.addEventListener('input', (event) => {
    event.stopPropagation();
    text.value = picker.value;
    notify();
  });
  text.addEventListener('input', () => {
    if (/^#[0-9a-f]{6}$/i.test(text.value)) picker.value = text.value;
    else if (text.value === '') picker.value = picker.dataset.shown;
    picker.classList.toggle('unset', text.value === '');
    clear.hidden = text.value === '';
  });
  clear.addEventListener('click', () => {
    text.value = '';
    text.focus();
    notify();
  });
}

/** Lists the indexes or collections of the chosen vector store without leaving the page. */
function loadTargets(form) {
  const button = form.querySelector('[data-targets-button]');
  const note = form.querySelector('[data-targets-note]');
  button.addEventListener('click', (event) => {
    event.preventDefault();
    button.disabled = true;
    void submitJson(button, form).then((body) => {
      button.disabled = false;
      const { names = [], note: message = body?.notice?.text ?? __('The server did not respond. Try again.') } =
        body?.data?.targets ?? {};
      note.textContent = message;
      document.getElementById('targets').replaceChildren(...names.map((name) => new Option(name, name)));
    });
  });
}

async function submitJson(button, form) {
  try {
    const response = await fetch(button.formAction, {
      method: 'POST',
      body: new URLSearchParams(new FormData(form)),
      headers: { Accept: 'application/json' },
    });
    return await response.json();
  } catch {
    return null;
  }
}
