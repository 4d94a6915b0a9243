// Betters the editor of chatbots; everything works without it.
import { startPreview } from './bot-preview.js';
import { startRows } from './bot-rows.js';
import { startSections } from './bot-sections.js';
import { offerModels, watchChanges } from './editing.js';

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
      const { names = [], note: words = answer?.notice?.text ?? 'The server did not answer. Try again.' } =
        answer?.data?.targets ?? {};
      note.textContent = words;
      document.getElementById('targets').replaceChildren(...names.map((name) => new Option(name, name)));
    });
  });
}

async function ask(button, form) {
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
