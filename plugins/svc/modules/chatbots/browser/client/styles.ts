import css from './widget.css';

let sheet: CSSStyleSheet | null = null;

/**
 * Styles that no policy of the page forbids: a sheet made by script where browsers know it, else the file beside the script.
 * Nothing is shown before they are there.
 */
export function adoptStyles(shadow: ShadowRoot, wrapper: HTMLElement, address: string): void {
  if ('adoptedStyleSheets' in Document.prototype && 'replaceSync' in CSSStyleSheet.prototype) {
    if (!sheet) {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(css);
    }
    shadow.adoptedStyleSheets = [sheet];
    return;
  }
  wrapper.hidden = true;
  const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: address });
  link.addEventListener('load', () => (wrapper.hidden = false));
  shadow.prepend(link);
}
