import { createFormView } from './form-view.ts';
import { h, show } from '../../../../kit/browser/dom.ts';
import { icon } from './chat-icons.ts';
import { renderMarkdown } from '../../../../kit/browser/markdown.ts';
import { createMessageView, type EntryView } from './message-view.ts';
import { createSolvedQuestion } from './solved.ts';
import { createDayLine, startOfDay } from './time.ts';
import type { Environment } from './environment.ts';

export interface MessageList {
  readonly element: HTMLElement;
  update(): void;
  /** Scrolls to the newest message and stays there. */
  follow(): void;
}

/** Pixels from the end within which the newest message counts as visible. */
const nearEnd = 48;

/** The messages. New text does not scroll the list while the visitor reads further up. */
export function createMessageList(environment: Environment, init: { readonly onNo: () => void }): MessageList {
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
  const opening = createGreeting(environment);
  const solved = createSolvedQuestion(environment, init);
  const scroller = h(
    'div',
    { class: 'log', tabindex: 0, role: 'group', 'aria-label': texts.title || environment.bot.name },
    opening.element,
    list,
    typing,
    solved.element,
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
    following = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < nearEnd;
    show(latest, !following);
  });
  // Sources that are opened stay in view with the buttons below them.
  scroller.addEventListener(
    'toggle',
    ({ target }) => {
      const entry = target instanceof Element ? target.closest('.entry') : null;
      if (!entry) return;
      const hidden = entry.getBoundingClientRect().bottom - scroller.getBoundingClientRect().bottom;
      if (hidden > 0) scroller.scrollTop += hidden + 10;
    },
    true,
  );
  // Keyboards and images change the height of the window: keep the newest message in view.
  new ResizeObserver(() => following && toEnd()).observe(scroller);
  const update = (): void => {
    syncEntries(list, views, environment);
    const streaming = chat.delivery.current;
    show(typing, chat.busy && !streaming?.answer?.content && streaming?.message.state !== 'waiting');
    opening.update();
    solved.update();
    if (following) toEnd();
  };
  return { element, update, follow };
}

interface Row {
  readonly key: string;
  readonly create: () => EntryView;
}

/** The entries, with a line above the first message of each day. */
function rowsOf(environment: Environment): Row[] {
  const { chat, locale } = environment;
  let day = 0;
  return chat.entries.flatMap((entry) => {
    const create = (): EntryView =>
      entry.kind === 'form' ? createFormView(entry, environment) : createMessageView(entry, environment);
    const row = { key: entry.key, create };
    const entryDay = entry.kind === 'form' ? day : startOfDay(new Date(entry.createdAt));
    if (entryDay === day) return [row];
    day = entryDay;
    const line = (): EntryView => ({ element: createDayLine(entryDay, locale), update: () => undefined });
    return [{ key: `day ${entryDay}`, create: line }, row];
  });
}

/** Creates views of new entries, removes those of deleted ones, and keeps their order. */
function syncEntries(list: HTMLElement, views: Map<string, EntryView>, environment: Environment): void {
  const rows = rowsOf(environment);
  const stale = new Set(views.keys());
  let before: Element | null = null;
  rows.forEach(({ key, create }, index) => {
    stale.delete(key);
    const view = views.get(key) ?? create();
    views.set(key, view);
    view.update(index === rows.length - 1);
    const next: Element | null = before ? before.nextElementSibling : list.firstElementChild;
    if (next !== view.element) list.insertBefore(view.element, next);
    before = view.element;
  });
  for (const key of stale) {
    views.get(key)?.element.remove();
    views.delete(key);
  }
}

/** Greeting and starters, before the first message. */
function createGreeting({ bot, chat, texts, createAvatar }: Environment): { element: HTMLElement; update(): void } {
  const bubble = h('div', { class: 'bubble', dir: 'auto' });
  if (bot.greeting) bubble.append(renderMarkdown(bot.greeting, { imageOrigins: 'any' }));
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
    bot.greeting ? createAvatar() : null,
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
