import { h } from './dom.ts';

/** Copies text to the clipboard, also without permission for the Clipboard API. Returns whether it worked. */
export async function copyText(text: string, near: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = h('textarea', { class: 'hidden', 'aria-hidden': 'true', tabindex: -1 });
    field.value = text;
    const focused = (near.getRootNode() as ShadowRoot).activeElement;
    near.append(field);
    field.select();
    const copied = document.execCommand('copy');
    field.remove();
    (focused as HTMLElement | null)?.focus();
    return copied;
  }
}
