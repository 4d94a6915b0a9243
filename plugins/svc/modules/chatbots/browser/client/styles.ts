import { h } from '../../../../kit/browser/dom.ts';

const sheets = new Map<string, CSSStyleSheet>();

/**
 * Adds styles as a constructed sheet, which no policy of the page forbids, or else as the file at `address`. Nothing is
 * shown until that is loaded.
 */
export function addStyles(shadow: ShadowRoot, css: string, address: string): void {
  if ('adoptedStyleSheets' in Document.prototype && 'replaceSync' in CSSStyleSheet.prototype) {
    let sheet = sheets.get(css);
    if (!sheet) {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(css);
      sheets.set(css, sheet);
    }
    if (!shadow.adoptedStyleSheets.includes(sheet)) shadow.adoptedStyleSheets = [...shadow.adoptedStyleSheets, sheet];
    return;
  }
  const root = shadow as ShadowRoot;
  if (root.querySelector(`link[href="${CSS.escape(address)}"]`)) return;
  const wrapper = root.querySelector<HTMLElement>('.svc');
  const link = h('link', { rel: 'stylesheet', href: address });
  if (wrapper) wrapper.hidden = true;
  link.addEventListener('load', () => wrapper && (wrapper.hidden = false));
  root.append(link);
}
