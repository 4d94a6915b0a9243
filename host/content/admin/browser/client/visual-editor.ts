import { Editor, getSchema } from '@tiptap/core';
import { h } from './dom.ts';
import { readHtml, writeHtml } from './html.ts';
import { editLink } from './link-dialog.ts';
import { cleanPasted, pasteMarkdown } from './paste.ts';
import { extensions } from './schema.ts';
import { createToolbar } from './toolbar.ts';

const schema = getSchema(extensions);

/**
 * Puts the visual editor in place of a textarea, with a switch between both. The textarea stays the field of the form and
 * changes only when the user changes the text.
 */
export function addVisualEditor(field: HTMLTextAreaElement): void {
  let editor: Editor | null = null;
  const toolbar = createToolbar(() => editor);
  const area = h('div', { class: 'editor-area' });
  const visual = h('div', { class: 'editor', hidden: true }, toolbar.element, area);
  const message = h('p', { class: 'editor-message small', role: 'status' });
  const buttons = {
    visual: h(
      'button',
      { type: 'button', class: 'button button-small', onclick: () => showVisual(true) },
      __('Visual'),
    ),
    html: h('button', { type: 'button', class: 'button button-small', onclick: () => showHtml('', true) }, 'HTML'),
  };
  const choice = h(
    'div',
    { class: 'editor-modes', role: 'group', 'aria-label': __('Way of editing') },
    buttons.visual,
    buttons.html,
  );

  function mark(isVisual: boolean, text: string): void {
    buttons.visual.setAttribute('aria-pressed', String(isVisual));
    buttons.html.setAttribute('aria-pressed', String(!isVisual));
    visual.hidden = !isVisual;
    field.hidden = isVisual;
    message.textContent = text;
    message.classList.toggle('editor-message-shown', text !== '');
  }
  function showHtml(text: string, isChosen: boolean): void {
    editor?.destroy();
    editor = null;
    mark(false, text);
    if (isChosen) field.focus();
  }
  function showVisual(isChosen: boolean): void {
    if (editor) return;
    const { doc, problem } = readHtml(schema, field.value);
    if (problem !== null) return showHtml(problem, isChosen);
    mark(true, '');
    editor = openEditor({ field, area, doc, onState: toolbar.refresh });
    toolbar.refresh(editor);
    if (isChosen) editor.commands.focus();
  }

  field.before(choice, message, visual);
  field
    .closest('.field')
    ?.querySelector('label')
    ?.addEventListener('click', () => editor?.commands.focus());
  showVisual(false);
}

interface Opening {
  readonly field: HTMLTextAreaElement;
  readonly area: HTMLElement;
  readonly doc: ReturnType<typeof readHtml>['doc'];
  readonly onState: (editor: Editor) => void;
}

function openEditor({ field, area, doc, onState }: Opening): Editor {
  const source = field.value;
  const initial = writeHtml(doc);
  let written = initial;
  const editor: Editor = new Editor({
    element: area,
    extensions,
    content: doc.toJSON(),
    injectCSS: false,
    editorProps: {
      attributes: {
        ...{ id: 'post-content-visual', class: 'editor-text', role: 'textbox', 'aria-multiline': 'true' },
        'aria-label': __('Content'),
      },
      handlePaste: (view, event) => pasteMarkdown(view, event),
      transformPastedHTML: cleanPasted,
      handleKeyDown: (_view, event) => {
        if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return false;
        // The admin would open its search.
        event.stopPropagation();
        event.preventDefault();
        void editLink(editor);
        return true;
      },
    },
    onTransaction: ({ editor: current }) => onState(current),
    onUpdate: ({ editor: current }) => {
      const html = writeHtml(current.state.doc);
      if (html === written) return;
      written = html;
      // After undoing everything the text is what it was, to the letter.
      field.value = html === initial ? source : html;
      field.dispatchEvent(new Event('input', { bubbles: true }));
    },
  });
  return editor;
}
