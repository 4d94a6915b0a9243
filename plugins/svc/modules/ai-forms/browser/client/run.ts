import { h } from '../../../../kit/browser/dom.ts';
import { uuid } from '../../../../kit/browser/uuid.ts';
import type { FormView, StartAnswer } from '../../public/protocol.ts';
import { Failure, type Api } from './api.ts';
import { showFailure, showErrors } from './show-errors.ts';
import { createResult, type ResultPanel } from './result.ts';

export interface RunInit {
  readonly form: HTMLFormElement;
  /** Where the answer goes, below the form. */
  readonly place: HTMLElement;
  readonly view: Pick<FormView, 'texts' | 'result'>;
  readonly api: Api;
  /** Events bubble from it. */
  readonly element: HTMLElement;
}

/** Sends the form without leaving the page, and writes the answer below it as it is made. */
export function runForm({ form, place, view, api, element }: RunInit): void {
  const { stop, status, setBusy } = createControls(form, view);
  let started: Promise<StartAnswer> | null = null;
  let running: AbortController | null = null;
  let submission = uuid();
  let panel: ResultPanel | null = null;

  const begin = (): Promise<StartAnswer> =>
    (started ??= api.start().catch((error: unknown) => {
      started = null;
      throw error;
    }));
  // Before the visitor has written something, so that a limit that is used up is said in time.
  form.addEventListener(
    'focusin',
    () =>
      void begin().then(
        ({ limit }) => {
          if (limit) showFailure(form, limitWords(limit));
        },
        () => undefined,
      ),
    { once: true },
  );
  stop.addEventListener('click', () => running?.abort());

  async function send(isAgain: boolean): Promise<void> {
    const { may_save } = await begin();
    const body = bodyOf(form, submission);
    const controller = (running ??= new AbortController());
    const result = createResult({ view, api, maySave: may_save });
    panel?.element.remove();
    panel = result;
    let text = '';
    try {
      for await (const event of api.submit(body, controller.signal)) {
        if (!result.element.isConnected) place.append(result.element);
        if (event.type === 'sources') result.sources(event.sources);
        else if (event.type === 'delta') result.show((text += event.text));
        else if (event.type === 'done') {
          result.finish(event.submission_id, event.response);
          result.sources(event.sources);
          submission = uuid();
          status.textContent = 'Done.';
          if (place.contains(active(place)) || active(place) === document.body) result.focus();
          announce(element, 'svc:answer', { submission_id: event.submission_id, response: event.response });
        }
      }
    } catch (error) {
      if (error instanceof Failure && error.code === 'rest_svc_form_expired' && !isAgain) {
        started = null;
        return send(true);
      }
      if (text === '') result.element.remove();
      throw error;
    }
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (running) return;
    running = new AbortController();
    showFailure(form, '');
    showErrors(form, {});
    setBusy(true);
    announce(element, 'svc:submit', {});
    send(false)
      .catch((error: unknown) => tell(form, error, status))
      .finally(() => {
        running = null;
        setBusy(false);
      });
  });
}

function bodyOf(form: HTMLFormElement, submission: string): FormData {
  const body = new FormData(form);
  body.delete('nonce');
  body.set('submission_id', submission);
  body.set('page_url', location.href);
  return body;
}

/** The button, one to stop beside it, and what happens in words. */
function createControls(form: HTMLFormElement, view: RunInit['view']) {
  const submit = form.querySelector<HTMLButtonElement>('button[type=submit]');
  const label = submit?.textContent ?? '';
  const stop = h('button', { type: 'button', class: 'svcf-button', hidden: true }, 'Stop');
  const status = h('span', { class: 'svcf-note', role: 'status' });
  submit?.after(stop, status);
  return {
    stop,
    status,
    setBusy(busy: boolean): void {
      form.setAttribute('aria-busy', String(busy));
      stop.hidden = !busy;
      if (busy) status.textContent = '';
      if (!submit) return;
      submit.setAttribute('aria-disabled', String(busy));
      submit.textContent = busy ? view.texts.working || 'Writing…' : label;
    },
  };
}

function announce(element: HTMLElement, name: string, detail: object): void {
  element.dispatchEvent(new CustomEvent(name, { bubbles: true, composed: true, detail }));
}

function tell(form: HTMLFormElement, error: unknown, status: HTMLElement): void {
  if (error instanceof DOMException && error.name === 'AbortError') {
    status.textContent = 'Stopped.';
    return;
  }
  const failure = error instanceof Failure ? error : new Failure('This did not work. Please try again.');
  const isShown = Object.keys(failure.errors).length > 0 && showErrors(form, failure.errors);
  showFailure(form, isShown ? 'Nothing was sent yet. Correct the marked fields.' : failure.message);
}

function limitWords({ message, until }: NonNullable<StartAnswer['limit']>): string {
  const time = new Date(until);
  return `${message} ${Number.isNaN(time.getTime()) ? '' : `There is more from ${time.toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' })}.`}`.trim();
}

/** The focused element, also within a shadow. */
function active(place: HTMLElement): Element | null {
  return (place.getRootNode() as Document | ShadowRoot).activeElement;
}
