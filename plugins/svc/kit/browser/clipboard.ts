import { h } from './dom.ts';

/** Puts a text into the clipboard, also where the page may not use the newer way. Answers whether it worked. */
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
