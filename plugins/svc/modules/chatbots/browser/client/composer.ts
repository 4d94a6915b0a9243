import { h, show } from '../../../../kit/browser/dom.ts';
import { icon } from './chat-icons.ts';
import type { Store } from './storage.ts';
import type { Environment } from './environment.ts';

export interface Composer {
  readonly element: HTMLElement;
  readonly field: HTMLTextAreaElement;
  update(): void;
}

/** The input field. A draft is stored with the tab. */
export function createComposer(
  { texts, chat }: Environment,
  { session, onSend }: { session: Store; onSend: () => void },
): Composer {
  const field = h('textarea', {
    rows: 1,
    maxlength: 32_000,
    placeholder: texts.placeholder,
    'aria-label': texts.placeholder,
    enterkeyhint: 'send',
  });
  const send = h(
    'button',
    { type: 'submit', class: 'send', 'aria-label': texts.send, title: texts.send },
    icon('send'),
  );
  const stop = h(
    'button',
    {
      type: 'button',
      class: 'send',
      hidden: true,
      'aria-label': texts.stop,
      title: texts.stop,
      onclick: () => stopAnswer(),
    },
    icon('stop'),
  );
  const element = h('form', { class: 'composer' }, field, send, stop);
  const stopAnswer = (): void => {
    chat.stop();
    field.focus();
  };
  const fit = (): void => {
    // An empty field keeps the direction of its placeholder.
    field.dir = field.value === '' ? '' : 'auto';
    field.style.height = 'auto';
    field.style.height = `${field.scrollHeight}px`;
    send.setAttribute('aria-disabled', String(field.value.trim() === ''));
  };
  const submit = (): void => {
    if (!chat.send(field.value)) return;
    field.value = '';
    session.set('draft', '');
    fit();
    onSend();
  };
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    submit();
  });
  field.addEventListener('keydown', (event) => {
    // The page's shortcuts must not react here, and Enter can confirm a word of an input method.
    if (event.key !== 'Escape' && event.key !== 'Tab') event.stopPropagation();
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    submit();
  });
  field.addEventListener('input', () => {
    session.set('draft', field.value);
    fit();
  });
  field.value = session.get('draft');
  let drawn = false;
  return {
    element,
    field,
    update() {
      if (!drawn && field.isConnected && field.scrollHeight > 0) {
        drawn = true;
        fit();
      }
      show(element, chat.consented && !chat.limit);
      const busy = chat.busy;
      if (busy === send.hidden) return;
      const focused = (field.getRootNode() as ShadowRoot).activeElement;
      show(send, !busy);
      show(stop, busy);
      if (focused === send || focused === stop) (busy ? stop : field).focus();
    },
  };
}
