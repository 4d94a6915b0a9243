import type { NodeViewRenderer } from '@tiptap/core';
import { h, openDialog } from './dom.ts';

/** Shows the source of HTML that the editor does not know, with a button to change it. */
export const showRaw: NodeViewRenderer = ({ node, editor, getPos }) => {
  const source = String(node.attrs['html']);
  const comment = source.startsWith('<!--') ? source.slice(4, -3).trim() : undefined;
  const edit = async (): Promise<void> => {
    const html = await editHtml(source);
    const position = getPos();
    if (html === null || position === undefined) return;
    if (html.trim() === '')
      editor
        .chain()
        .focus()
        .deleteRange({ from: position, to: position + node.nodeSize })
        .run();
    else editor.view.dispatch(editor.state.tr.setNodeAttribute(position, 'html', html));
  };
  const { title, edit: editLabel } = comment === undefined ? namesOf(source) : commentNames;
  const dom = h(
    'div',
    { class: comment === undefined ? 'editor-raw' : 'editor-raw editor-raw-comment', contenteditable: 'false' },
    h('span', { class: 'editor-raw-name' }, title),
    h('code', {}, shorten(comment ?? source)),
    h('button', { type: 'button', class: 'button button-small button-quiet', onclick: edit }, editLabel),
  );
  return { dom, stopEvent: ({ target }) => target instanceof Element && target.closest('button') !== null };
};

interface Names {
  readonly title: string;
  /** Label of the button. */
  readonly edit: string;
}

const commentNames: Names = { title: __('Comment'), edit: __('Edit comment') };
const names: ReadonlyMap<string, Names> = new Map([
  ['table', { title: __('Table'), edit: __('Edit table') }],
  ['figure', { title: __('Figure'), edit: __('Edit figure') }],
  ['iframe', { title: __('Frame'), edit: __('Edit frame') }],
  ['video', { title: __('Video'), edit: __('Edit video') }],
]);

function namesOf(source: string): Names {
  const tag = /<([a-z][a-z0-9-]*)/i.exec(source)?.[1]?.toLowerCase() ?? '';
  return names.get(tag) ?? { title: 'HTML', edit: __('Edit HTML') };
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}

/** Null: canceled. */
async function editHtml(source: string): Promise<string | null> {
  const input = h('textarea', { class: 'input input-mono', id: 'raw-html', rows: 12, spellcheck: 'false' });
  input.value = source;
  const dialog = h(
    'dialog',
    { class: 'dialog editor-dialog', 'aria-labelledby': 'raw-html-label' },
    h(
      'form',
      { method: 'dialog', class: 'form' },
      h('label', { class: 'field-label', id: 'raw-html-label', for: 'raw-html' }, 'HTML'),
      input,
      h(
        'div',
        { class: 'actions' },
        h('button', { class: 'button button-primary', value: 'apply' }, __('Apply')),
        h('button', { class: 'button', value: '' }, __('Cancel')),
      ),
    ),
  );
  return (await openDialog(dialog)) === 'apply' ? input.value : null;
}
