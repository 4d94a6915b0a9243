type Attribute = string | number | boolean | null | undefined | ((event: never) => unknown);
type Child = Node | string | null | undefined | false;

/** Creates an element. `on...` attributes are listeners, `true` is an empty attribute, `false` and null are left out. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, Attribute>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value as EventListener);
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(
    ...children.filter((child): child is Node | string => child !== null && child !== undefined && child !== false),
  );
  return element;
}

const svg = 'http://www.w3.org/2000/svg';

/** An icon of the sprite of the admin. */
export function icon(name: string): SVGSVGElement {
  const drawing = document.createElementNS(svg, 'svg');
  drawing.setAttribute('class', 'icon');
  drawing.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS(svg, 'use');
  use.setAttribute('href', `${document.querySelector<HTMLElement>('[data-icons]')?.dataset['icons'] ?? ''}#${name}`);
  drawing.append(use);
  return drawing;
}

/** Unguessable, so that no text and no pasted HTML contains it. */
export const pageKey = crypto.getRandomValues(new Uint32Array(2)).join('-');

/** Before the names of attributes with styles and listeners while HTML is parsed. */
const hidden = `data-${pageKey}-`;
export const styleAttribute = `${hidden}style`;

/**
 * Parses HTML as a page does in its body, but runs nothing of it. Styles and listeners have other names until `unhide`,
 * because the content security policy reports each of them.
 */
export function parse(html: string): HTMLElement {
  const template = document.createElement('template');
  const safe = html.replace(/<[a-z][^<>]*>/gi, (tag) =>
    tag.replace(/([\s"'/])(style|on[a-z]+)(\s*=)/gi, `$1${hidden}$2$3`),
  );
  template.innerHTML = `<div>${safe}</div>`;
  return template.content.firstElementChild as HTMLElement;
}

export function unhide(html: string): string {
  return html.replaceAll(hidden, '');
}

/** Shows a dialog and removes it when it closes. Resolves with the value of the button that closed it; empty: canceled. */
export function openDialog(dialog: HTMLDialogElement): Promise<string> {
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue);
    });
  });
}
