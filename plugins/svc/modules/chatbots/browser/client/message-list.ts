import { createFormView } from './form-view.ts';
import { h, show } from '../../../../kit/browser/dom.ts';
import { icon } from './icons.ts';
import { createAvatar } from './header.ts';
import { renderMarkdown } from '../../../../kit/browser/markdown.ts';
import { createMessageView, type EntryView } from './message-view.ts';
import type { Environment } from './environment.ts';

export interface MessageList {
  readonly element: HTMLElement;
  update(): void;
  /** To the newest message, and to stay there as it grows. */
  follow(): void;
}

/** Pixels from the end within which one counts as reading the newest message. */
const near = 48;

/** The conversation. Grows at its end without moving what somebody reads further up. */
export function createMessageList(environment: Environment): MessageList {
  const { chat, texts } = environment;
  const list = h('ol', { class: 'entries' });
  const typing = h(
    'div',
    { class: 'typing', hidden: true },
    h('span', { class: 'hidden' }, texts.typing),
    h('i'),
    h('i'),
    h('i'),
  );
  const opening = createOpening(environment);
  const scroller = h(
    'div',
    { class: 'log', tabindex: 0, role: 'group', 'aria-label': texts.title || environment.bot.name },
    opening.element,
    list,
    typing,
  );
  const latest = h(
    'button',
    {
      type: 'button',
      class: 'latest',
      hidden: true,
      'aria-label': texts.latest,
      title: texts.latest,
      onclick: () => follow(),
    },
    icon('minimize'),
  );
  const element = h('div', { class: 'log-frame' }, scroller, latest);
  const views = new Map<string, EntryView>();
  let following = true;
  const toEnd = (): void => {
    scroller.scrollTop = scroller.scrollHeight;
  };
  const follow = (): void => {
    following = true;
    show(latest, false);
    toEnd();
  };
  scroller.addEventListener('scroll', () => {
    following = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < near;
    show(latest, !following);
  });
  // The window changes its height (keyboards, pictures that arrive): the newest message stays in sight.
  new ResizeObserver(() => following && toEnd()).observe(scroller);
  const update = (): void => {
    place(list, views, environment);
    const streaming = chat.delivery.current;
    show(typing, chat.busy && !streaming?.answer?.content && streaming?.message.state !== 'waiting');
    opening.update();
    if (following) toEnd();
  };
  return { element, update, follow };
}

/** Puts the views of all entries in their order, makes new ones and takes gone ones away. */
function place(list: HTMLElement, views: Map<string, EntryView>, environment: Environment): void {
  const { entries } = environment.chat;
  const gone = new Set(views.keys());
  let before: Element | null = null;
  entries.forEach((entry, index) => {
    gone.delete(entry.key);
    const view =
      views.get(entry.key) ??
      (entry.kind === 'form' ? createFormView(entry, environment) : createMessageView(entry, environment));
    views.set(entry.key, view);
    view.update(index === entries.length - 1);
    const next: Element | null = before ? before.nextElementSibling : list.firstElementChild;
    if (next !== view.element) list.insertBefore(view.element, next);
    before = view.element;
  });
  for (const key of gone) {
    views.get(key)?.element.remove();
    views.delete(key);
  }
}

/** What stands before the first message: greeting and starters. */
function createOpening({ bot, chat, texts }: Environment): { element: HTMLElement; update(): void } {
  const bubble = h('div', { class: 'bubble', dir: 'auto' });
  if (bot.greeting) bubble.append(renderMarkdown(bot.greeting));
  const starters = h(
    'div',
    { class: 'starters' },
    ...bot.starters
      .filter(Boolean)
      .map((text) => h('button', { type: 'button', dir: 'auto', onclick: () => chat.send(text) }, text)),
  );
  const greeting = h('div', { class: 'entry' }, h('span', { class: 'hidden' }, `${texts.title}:`), bubble);
  const element = h(
    'div',
    { class: 'opening' },
    bot.greeting ? createAvatar(bot) : null,
    bot.greeting ? greeting : null,
    starters,
  );
  return {
    element,
    update() {
      show(starters, chat.entries.length === 0 && bot.starters.length > 0 && chat.consented && !chat.limit);
    },
  };
}
