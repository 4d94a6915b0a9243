import { routeAddress } from '../../../../kit/browser/address.ts';
import { h } from '../../../../kit/browser/dom.ts';
import css from './form.css';

let sheet: CSSStyleSheet | null = null;

/** Gives a form its styles: made by script, which no content security policy forbids, or loaded where browsers cannot do it. */
export function dress(shadow: ShadowRoot, root: string): void {
  if ('adoptedStyleSheets' in shadow && 'replaceSync' in CSSStyleSheet.prototype) {
    if (sheet === null) {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(css);
    }
    shadow.adoptedStyleSheets = [sheet];
  } else
    (shadow as ShadowRoot).append(
      h('link', { rel: 'stylesheet', href: routeAddress(root, '/svc-widget/v1/form.css') }),
    );
}
