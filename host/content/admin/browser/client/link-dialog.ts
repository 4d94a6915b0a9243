import type { Editor } from '@tiptap/core';
import { h, openDialog } from './dom.ts';
import { isSafeUrl } from './schema.ts';

/** Asks for the address of the link at the cursor, and sets, changes or removes it. */
export async function editLink(editor: Editor): Promise<void> {
  const current = editor.getAttributes('link') as { href?: string; target?: string | null };
  const hasLink = editor.isActive('link');
  const address = h('input', {
    ...{ class: 'input', id: 'link-address', type: 'text', inputmode: 'url', autocomplete: 'off', required: true },
    ...{ value: current.href ?? '', 'aria-describedby': 'link-error', placeholder: 'https://' },
  });
  const error = h('p', { class: 'field-error', id: 'link-error', role: 'alert' });
  const newTab = h('input', { type: 'checkbox', checked: current.target === '_blank' });
  const check = (event: SubmitEvent): void => {
    if ((event.submitter as HTMLButtonElement | null)?.value !== 'set') return;
    const problem = describeProblem(address.value);
    error.textContent = problem;
    if (problem === '') return;
    event.preventDefault();
    address.setAttribute('aria-invalid', 'true');
    address.focus();
  };
  const dialog = h(
    'dialog',
    { class: 'dialog', 'aria-labelledby': 'link-title' },
    h(
      'form',
      { method: 'dialog', class: 'form', onsubmit: check },
      h('h2', { id: 'link-title' }, hasLink ? __('Edit link') : __('Add link')),
      h(
        'div',
        { class: 'field' },
        h('label', { class: 'field-label', for: 'link-address' }, __('Address')),
        address,
        error,
      ),
      h('label', { class: 'choice' }, newTab, ' ', h('span', {}, __('Open in a new tab'))),
      h(
        'div',
        { class: 'actions' },
        h('button', { class: 'button button-primary', value: 'set' }, __('Save link')),
        hasLink && h('button', { class: 'button', value: 'remove', formnovalidate: true }, __('Remove link')),
        h('button', { class: 'button', value: '', formnovalidate: true }, __('Cancel')),
      ),
    ),
  );
  const choice = await openDialog(dialog);
  const chain = editor.chain().focus().extendMarkRange('link');
  if (choice === 'remove') chain.unsetLink().run();
  else if (choice === 'set') setLink(editor, { href: completeUrl(address.value), isNewTab: newTab.checked });
  else editor.commands.focus();
}

function setLink(editor: Editor, { href, isNewTab }: { readonly href: string; readonly isNewTab: boolean }): void {
  const target = isNewTab ? { target: '_blank', rel: 'noopener' } : { target: null, rel: null };
  const attributes = { href, ...target };
  if (editor.state.selection.empty && !editor.isActive('link'))
    editor
      .chain()
      .focus()
      .insertContent({ type: 'text', text: href, marks: [{ type: 'link', attrs: attributes }] })
      .run();
  else editor.chain().focus().extendMarkRange('link').setLink(attributes).run();
}

/** An empty text if the address can be used. */
function describeProblem(address: string): string {
  if (address.trim() === '') return __('Enter an address.');
  if (!isSafeUrl(completeUrl(address)))
    return __('Use an address that begins with https://, http://, mailto:, tel: or /.');
  return '';
}

/** `example.com/page` becomes `https://example.com/page`, `ada@example.com` an address of mail. */
function completeUrl(address: string): string {
  const url = address.trim();
  if (/^[a-z][a-z0-9+.-]*:/i.test(url) || /^[/#?.]/.test(url)) return url;
  if (/^[^\s@/]+@[^\s@/]+$/.test(url)) return `mailto:${url}`;
  return /^[^\s/?#]+\.[a-z]/i.test(url) ? `https://${url}` : url;
}
