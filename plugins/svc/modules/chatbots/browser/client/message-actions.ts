import type { FeedbackValue } from '../../conversations/conversation.ts';
import { copyText } from '../../../../kit/browser/clipboard.ts';
import { h, show } from '../../../../kit/browser/dom.ts';
import type { MessageEntry } from './entry.ts';
import { icon, type IconName } from './chat-icons.ts';
import type { Environment } from './environment.ts';

export function iconButton(name: IconName, label: string, onclick: () => void): HTMLButtonElement {
  return h('button', { type: 'button', class: 'quiet', 'aria-label': label, title: label, onclick }, icon(name));
}

/** Buttons to copy, regenerate and rate an answer. */
export function createActions(
  entry: MessageEntry,
  environment: Environment,
): { element: HTMLElement; update(last: boolean): void } {
  const { texts, chat, announce, bot } = environment;
  const copy = iconButton('copy', texts.copy, () => {
    void copyText(entry.content, element).then((copied) => {
      if (!copied) return;
      copy.replaceChildren(icon('check'));
      announce(texts.copied);
      setTimeout(() => copy.replaceChildren(icon('copy')), 2_000);
    });
  });
  const again = iconButton('again', texts.regenerate, () => chat.regenerate(entry));
  const rating = bot.feedback ? createRating(entry, environment) : null;
  const element = h(
    'div',
    { class: 'actions' },
    h('div', { class: 'row' }, copy, again, ...(rating?.buttons ?? [])),
    rating?.comment,
  );
  return {
    element,
    update(last) {
      if (!show(element, entry.state === 'done' && entry.content !== '')) return;
      // Only the server knows whether a rule replied, so the button is always offered.
      show(again, last && !chat.busy && !chat.limit);
      rating?.update();
    },
  };
}

function createRating(
  entry: MessageEntry,
  { texts, chat, announce }: Environment,
): { buttons: HTMLElement[]; comment: HTMLElement; update(): void } {
  const field = h('textarea', { rows: 2, maxlength: 2_000, placeholder: texts.comment, 'aria-label': texts.comment });
  const note = h('p', { class: 'thanks', hidden: true });
  const form = h(
    'form',
    { class: 'comment', hidden: true },
    field,
    h(
      'div',
      { class: 'row' },
      h('button', { type: 'submit', class: 'primary' }, texts.submit),
      h('button', { type: 'button', class: 'quiet', onclick: () => close() }, texts.dismiss),
    ),
  );
  const close = (): void => {
    show(form, false);
    down.focus();
  };
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    close();
  });
  const thank = (text: string): void => {
    note.textContent = text;
    show(note, text !== '');
    announce(text);
  };
  const rate = async (value: FeedbackValue, comment = ''): Promise<boolean> => {
    try {
      await chat.rate(entry, value, comment);
      return true;
    } catch {
      thank(texts.error);
      return false;
    }
  };
  const toggle = async (value: 'up' | 'down'): Promise<void> => {
    const chosen = entry.feedback === value ? 'none' : value;
    show(form, chosen === 'down');
    thank('');
    if (chosen === 'down') field.focus();
    if (!(await rate(chosen))) show(form, false);
    else if (chosen === 'up') thank(texts.thanks);
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void rate('down', field.value.trim()).then((sent) => {
      if (!sent) return;
      close();
      thank(texts.thanks);
    });
  });
  const up = iconButton('up', texts.good, () => void toggle('up'));
  const down = iconButton('down', texts.bad, () => void toggle('down'));
  return {
    buttons: [up, down],
    comment: h('div', {}, form, note),
    update() {
      up.setAttribute('aria-pressed', String(entry.feedback === 'up'));
      down.setAttribute('aria-pressed', String(entry.feedback === 'down'));
    },
  };
}
