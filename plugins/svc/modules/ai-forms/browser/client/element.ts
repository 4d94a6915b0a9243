import { h } from '../../../../kit/browser/dom.ts';
import { createApi, Failure } from './api.ts';
import { buildForm } from './build.ts';
import { runForm } from './run.ts';
import { dress } from './dress.ts';
import type { FormView } from '../../public/protocol.ts';

/**
 * `<svc-form form="3" root="https://site/wp-json">`. A form that the site wrote into it is bettered in its place; without one
 * it is made here, where nothing of the page reaches in. Attributes: `form`, `root`, `theme` (light, dark, auto).
 * Events, that bubble: `svc:submit`, `svc:answer` `{submission_id, response}`.
 */
export class SvcForm extends HTMLElement {
  private begun = false;

  connectedCallback(): void {
    const begin = (): void => {
      if (this.begun || !this.isConnected) return;
      this.begun = true;
      void this.begin();
    };
    // What the site wrote into it may not have been read yet.
    if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', begin, { once: true });
    else queueMicrotask(begin);
  }

  private async begin(): Promise<void> {
    const api = createApi(this.getAttribute('root') ?? '', this.getAttribute('form') ?? '');
    const written = this.querySelector<HTMLFormElement>('form.svcf-form');
    if (written) {
      const view = JSON.parse(this.dataset['view'] ?? '{}') as Pick<FormView, 'texts' | 'result'>;
      runForm({ form: written, place: this, view, api, element: this });
      return;
    }
    try {
      const view = await api.view();
      const shadow = this.attachShadow({ mode: 'open' });
      const place = h('div', { class: 'svcf svcf-framed', 'data-theme': this.getAttribute('theme') ?? 'auto' });
      const form = buildForm(view);
      place.append(form);
      dress(shadow, this.getAttribute('root') ?? '');
      shadow.append(place);
      runForm({ form, place, view, api, element: this });
    } catch (error) {
      this.begun = false;
      console.error(
        `[svc form] ${error instanceof Failure ? error.message : 'The form could not be loaded.'} Number: ${this.getAttribute('form') ?? ''}.`,
      );
    }
  }
}
