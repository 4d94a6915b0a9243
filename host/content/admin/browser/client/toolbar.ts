import type { Editor } from '@tiptap/core';
import { h, icon } from './dom.ts';
import { editLink } from './link-dialog.ts';
import { pickImage } from './media-picker.ts';

interface Tool {
  readonly label: string;
  readonly icon: string;
  readonly keys?: string;
  readonly run: (editor: Editor) => unknown;
  /** Of tools that are on or off at the cursor. */
  readonly isActive?: (editor: Editor) => boolean;
  /** Default: always. */
  readonly isEnabled?: (editor: Editor) => boolean;
}

function toggle(name: string, tool: Omit<Tool, 'isActive'>): Tool {
  return { ...tool, isActive: (editor) => editor.isActive(name) };
}

const groups: readonly (readonly Tool[])[] = [
  [
    toggle('bold', {
      label: __('Bold'),
      icon: 'bold',
      keys: 'B',
      run: (editor) => editor.chain().focus().toggleBold().run(),
    }),
    toggle('italic', {
      ...{ label: __('Italic'), icon: 'italic', keys: 'I' },
      run: (editor) => editor.chain().focus().toggleItalic().run(),
    }),
    toggle('strike', {
      ...{ label: __('Strikethrough'), icon: 'strike' },
      run: (editor) => editor.chain().focus().toggleStrike().run(),
    }),
    toggle('code', {
      label: __('Code'),
      icon: 'code',
      keys: 'E',
      run: (editor) => editor.chain().focus().toggleCode().run(),
    }),
    toggle('link', { label: __('Link'), icon: 'link', keys: 'K', run: editLink }),
  ],
  [
    toggle('bulletList', {
      ...{ label: __('Bulleted list'), icon: 'list' },
      run: (editor) => editor.chain().focus().toggleBulletList().run(),
    }),
    toggle('orderedList', {
      ...{ label: __('Numbered list'), icon: 'numbers' },
      run: (editor) => editor.chain().focus().toggleOrderedList().run(),
    }),
    toggle('blockquote', {
      ...{ label: __('Quote'), icon: 'quote' },
      run: (editor) => editor.chain().focus().toggleBlockquote().run(),
    }),
    toggle('codeBlock', {
      ...{ label: __('Code block'), icon: 'code-block' },
      run: (editor) => editor.chain().focus().toggleCodeBlock().run(),
    }),
    { ...{ label: __('Image'), icon: 'image' }, run: insertImage },
    {
      ...{ label: __('Horizontal line'), icon: 'line' },
      run: (editor) => editor.chain().focus().setHorizontalRule().run(),
    },
  ],
  [
    {
      ...{ label: __('Undo'), icon: 'undo', keys: 'Z' },
      run: (editor) => editor.chain().focus().undo().run(),
      isEnabled: (editor) => editor.can().undo(),
    },
    {
      ...{ label: __('Redo'), icon: 'redo', keys: __('Shift+Z') },
      run: (editor) => editor.chain().focus().redo().run(),
      isEnabled: (editor) => editor.can().redo(),
    },
  ],
];

async function insertImage(editor: Editor): Promise<void> {
  const image = await pickImage(__('Insert image'));
  const chain = editor.chain().focus();
  if (image === null) {
    chain.run();
    return;
  }
  const { width = null, height = null } = image.media_details;
  const attrs = { src: image.source_url, alt: image.alt_text, width, height };
  chain.insertContent({ type: 'image', attrs }).run();
}

export interface Toolbar {
  readonly element: HTMLElement;
  /** Shows the state at the cursor. */
  readonly refresh: (editor: Editor) => void;
}

/** The buttons above the text. Tab reaches one of them, arrow keys the others. */
export function createToolbar(getEditor: () => Editor | null): Toolbar {
  const run = (tool: Tool) => () => {
    const editor = getEditor();
    if (editor && tool.isEnabled?.(editor) !== false) void tool.run(editor);
  };
  const select = createBlockSelect(getEditor);
  const buttons = groups.map((tools) => tools.map((tool) => ({ tool, button: createButton(tool, run(tool)) })));
  const element = h(
    'div',
    {
      class: 'editor-toolbar',
      role: 'toolbar',
      'aria-label': __('Formatting'),
      'aria-controls': 'post-content-visual',
    },
    select,
    ...buttons.map((group) => h('div', { class: 'editor-tools' }, ...group.map(({ button }) => button))),
  );
  moveByArrows(element, [select, ...buttons.flat().map(({ button }) => button)]);
  return {
    element,
    refresh(editor) {
      for (const { tool, button } of buttons.flat()) {
        if (tool.isActive) button.setAttribute('aria-pressed', String(tool.isActive(editor)));
        button.setAttribute('aria-disabled', String(tool.isEnabled?.(editor) === false));
      }
      const level = editor.isActive('heading') ? String(editor.getAttributes('heading')['level']) : '';
      select.value = level;
    },
  };
}

function createButton({ label, icon: name, keys }: Tool, onclick: () => void): HTMLButtonElement {
  const title = keys === undefined ? label : __('{label} (Ctrl+{keys})', { label, keys });
  return h(
    'button',
    { type: 'button', class: 'editor-tool', 'aria-label': label, title, onclick, onmousedown: keepFocus },
    icon(name),
  );
}

/** The text keeps the focus while the mouse is on a button: what is typed right after a click is not lost. */
function keepFocus(event: Event): void {
  event.preventDefault();
}

function createBlockSelect(getEditor: () => Editor | null): HTMLSelectElement {
  const select = h(
    'select',
    { class: 'input editor-block', 'aria-label': __('Kind of block') },
    h('option', { value: '' }, __('Paragraph')),
    ...[1, 2, 3, 4, 5, 6].map((level) => h('option', { value: level }, __('Heading {level}', { level }))),
  );
  select.addEventListener('change', () => {
    const chain = getEditor()?.chain().focus();
    const level = Number(select.value) as 1 | 2 | 3 | 4 | 5 | 6;
    if (select.value === '') chain?.setParagraph().run();
    else chain?.setHeading({ level }).run();
  });
  return select;
}

/** One stop for Tab, as toolbars have: arrow keys, Home and End go to the others. */
function moveByArrows(toolbar: HTMLElement, controls: readonly HTMLElement[]): void {
  const mark = (current: HTMLElement): void => {
    for (const control of controls) control.tabIndex = control === current ? 0 : -1;
  };
  if (controls[0]) mark(controls[0]);
  toolbar.addEventListener('focusin', ({ target }) => {
    const control = controls.find((one) => one === target);
    if (control) mark(control);
  });
  toolbar.addEventListener('keydown', (event) => {
    const index = controls.findIndex((control) => control === event.target);
    const last = controls.length - 1;
    const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: last }[event.key];
    if (to === undefined || index < 0) return;
    event.preventDefault();
    controls[(to + controls.length) % controls.length]?.focus();
  });
}
