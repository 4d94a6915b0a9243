import { h } from '../../../../kit/browser/dom.ts';
import { createApi, Failure } from './api.ts';
import { buildForm } from './build.ts';
import { runForm } from './run.ts';
import type { FormView } from '../../public/protocol.ts';
import { routeAddress } from '../../../../kit/browser/address.ts';
import css from './form.css';

let sheet: CSSStyleSheet | null = null;

/** Applies the styles by script, which no content security policy blocks, or by a link in old browsers. */
function applyStyles(shadow: ShadowRoot, root: string): void {
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

/**
 * `<svc-form form="3" root="https://site/wp-json">`. Enhances the form that the site rendered into it, or builds one in a
 * shadow DOM. Attributes: `form`, `root`, `theme` (light, dark, auto). Bubbling events: `svc:submit`, `svc:answer`
 * `{submission_id, response}`.
 */
export class SvcForm extends HTMLElement {
  private started = false;

  connectedCallback(): void {
    const start = (): void => {
      if (this.started || !this.isConnected) return;
      this.started = true;
      void this.start();
    };
    // The content of the element may not be parsed yet.
    if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start, { once: true });
    else queueMicrotask(start);
  }

  private async start(): Promise<void> {
    const api = createApi(this.getAttribute('root') ?? '', this.getAttribute('form') ?? '');
    const rendered = this.querySelector<HTMLFormElement>('form.svcf-form');
    if (rendered) {
      const view = JSON.parse(this.dataset['view'] ?? '{}') as Pick<FormView, 'texts' | 'messages' | 'result'>;
      runForm({ form: rendered, container: this, view, api, element: this });
      return;
    }
    try {
      const view = await api.view();
      const shadow = this.attachShadow({ mode: 'open' });
      const container = h('div', { class: 'svcf svcf-framed', 'data-theme': this.getAttribute('theme') ?? 'auto' });
      const form = buildForm(view);
      container.append(form);
      applyStyles(shadow, this.getAttribute('root') ?? '');
      shadow.append(container);
      runForm({ form, container, view, api, element: this });
    } catch (error) {
      this.started = false;
      const message = (error instanceof Failure && error.message) || 'The form could not be loaded.';
      console.error(`[svc form] ${message} Form id: ${this.getAttribute('form') ?? ''}.`);
    }
  }
}
