import { h, show } from '../../../../kit/browser/dom.ts';
import { uuid } from '../../../../kit/browser/uuid.ts';
import type { FormMessages } from '../../public/built-in-texts.ts';
import type { FormView, StartResponse } from '../../public/protocol.ts';
import { Failure, messageOf, type Api } from './api.ts';
import { createResult, type ResultPanel } from './result.ts';

export interface RunInit {
  readonly form: HTMLFormElement;
  /** Gets the result, below the form. */
  readonly container: HTMLElement;
  readonly view: Pick<FormView, 'texts' | 'messages' | 'result'>;
  readonly api: Api;
  /** Events bubble from it. */
  readonly element: HTMLElement;
}

/** Submits the form without leaving the page, and streams the response below it. */
export function runForm({ form, container, view, api, element }: RunInit): void {
  const { messages } = view;
  const { stop, status, setBusy } = createControls(form, view);
  let started: Promise<StartResponse> | null = null;
  let running: AbortController | null = null;
  let submission = uuid();
  let panel: ResultPanel | null = null;

  const begin = (): Promise<StartResponse> =>
    (started ??= api.start().catch((error: unknown) => {
      started = null;
      throw error;
    }));
  // At the first focus, so that visitors see a reached limit before they type.
  form.addEventListener(
    'focusin',
    () =>
      void begin().then(
        ({ limit }) => {
          if (limit) showFailure(form, limitMessage(limit, messages));
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
        if (!result.element.isConnected) container.append(result.element);
        if (event.type === 'sources') result.sources(event.sources);
        else if (event.type === 'delta') result.show((text += event.text));
        else if (event.type === 'done') {
          const { finish_reason: ending } = event;
          const notice = ending === undefined ? '' : messages[ending === 'length' ? 'cut' : 'filtered'];
          result.finish(event.submission_id, event.response, notice);
          result.sources(event.sources);
          submission = uuid();
          status.textContent = messages.done;
          if (container.contains(focused(container)) || focused(container) === document.body) result.focus();
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
      .catch((error: unknown) => showOutcome(error, { form, status, messages }))
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

function createControls(form: HTMLFormElement, view: RunInit['view']) {
  const submit = form.querySelector<HTMLButtonElement>('button[type=submit]');
  const label = submit?.textContent ?? '';
  const stop = h('button', { type: 'button', class: 'svcf-button', hidden: true }, view.messages.stop);
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
      submit.textContent = busy ? view.texts.working : label;
    },
  };
}

function announce(element: HTMLElement, name: string, detail: object): void {
  element.dispatchEvent(new CustomEvent(name, { bubbles: true, composed: true, detail }));
}

interface Outcome {
  readonly form: HTMLFormElement;
  readonly status: HTMLElement;
  readonly messages: FormMessages;
}

function showOutcome(error: unknown, { form, status, messages }: Outcome): void {
  if (error instanceof DOMException && error.name === 'AbortError') {
    status.textContent = messages.stopped;
    return;
  }
  const errors = error instanceof Failure ? error.errors : {};
  const isShown = Object.keys(errors).length > 0 && showErrors(form, errors);
  showFailure(form, isShown ? messages.invalid : messageOf(error, messages, 'failed'));
}

function limitMessage({ message, until }: NonNullable<StartResponse['limit']>, messages: FormMessages): string {
  const time = new Date(until);
  if (Number.isNaN(time.getTime())) return message;
  const shown = time.toLocaleString(messages.locale, { dateStyle: 'medium', timeStyle: 'short' });
  return `${message} ${messages.tryAfter.replace('{time}', shown)}`;
}

/** The focused element, also within a shadow. */
function focused(container: HTMLElement): Element | null {
  return (container.getRootNode() as Document | ShadowRoot).activeElement;
}

/** Shows the errors at their fields and focuses the first. Returns whether every error has a field. */
function showErrors(form: HTMLFormElement, errors: Readonly<Record<string, string>>): boolean {
  let first: HTMLElement | null = null;
  let shown = 0;
  for (const field of form.querySelectorAll<HTMLElement>('[data-field]')) {
    const sentence = errors[field.dataset['field'] ?? ''];
    const note = field.querySelector<HTMLElement>('.svcf-error');
    if (note) {
      note.textContent = sentence ?? '';
      show(note, sentence !== undefined);
    }
    for (const control of field.querySelectorAll('input, select, textarea')) {
      if (sentence === undefined) control.removeAttribute('aria-invalid');
      else control.setAttribute('aria-invalid', 'true');
    }
    if (sentence === undefined) continue;
    shown++;
    first ??= field.querySelector('input, select, textarea');
  }
  first?.focus();
  return shown === Object.keys(errors).length;
}

/** Shows the message above the fields; the empty string hides it. */
function showFailure(form: HTMLFormElement, sentence: string): void {
  const note = form.querySelector<HTMLElement>('.svcf-failure');
  if (!note) return;
  note.textContent = sentence;
  show(note, sentence !== '');
}
