import type { ChatEvent } from './chat.ts';
import { h, show } from '../../../../kit/browser/dom.ts';
import { fitToViewport, makeDialog } from './dialog.ts';
import { createFooter } from './footer.ts';
import { createHeader } from './header.ts';
import { icon } from './chat-icons.ts';
import { createMessageList } from './message-list.ts';
import { plainText } from '../../../../kit/browser/markdown.ts';
import type { Store } from './storage.ts';
import type { Environment } from './environment.ts';

export interface Panel {
  readonly element: HTMLElement;
  update(): void;
  focus(): void;
  /** Announces an event of the conversation to screen readers. */
  announceEvent(event: ChatEvent): void;
  /** Fits the window into the visible part of the screen. */
  fit(): void;
  destroy(): void;
}

export interface PanelInit {
  readonly environment: Omit<Environment, 'announce'>;
  readonly session: Store;
  /** Null if the window cannot be closed. */
  readonly onClose: (() => void) | null;
}

let panelCount = 0;

/** The window of the conversation. */
export function createPanel({ environment: given, session, onClose }: PanelInit): Panel {
  const { chat, texts, bot } = given;
  const live = h('div', { class: 'hidden', role: 'status', 'aria-live': 'polite' });
  const announce = (text: string): void => live.replaceChildren(h('p', {}, text));
  const environment: Environment = { ...given, announce };
  const header = createHeader(environment, {
    onClose,
    onNewChat: () => {
      chat.newChat();
      update();
      footer.focus();
    },
  });
  header.title.id = `title-${++panelCount}`;
  const log = createMessageList(environment, { onNo: () => footer.focus() });
  const footer = createFooter(environment, { session, onSend: log.follow });
  const offline = h(
    'div',
    { class: 'banner', role: 'status' },
    icon('offline'),
    h('span', { dir: 'auto' }, texts.offline),
  );
  const failed = h(
    'div',
    { class: 'banner', role: 'alert' },
    icon('warning'),
    h('span', { dir: 'auto' }, texts.error),
    h(
      'button',
      { type: 'button', class: 'quiet small', onclick: () => void chat.start().catch(() => undefined) },
      texts.retry,
    ),
  );
  const banners = h('div', { class: 'banners' }, offline, failed);
  const element = h(
    'section',
    { class: 'panel', 'aria-labelledby': header.title.id, 'data-ai-disclosure': 'ai-generated', tabindex: -1 },
    header.element,
    banners,
    log.element,
    footer.element,
    live,
  );
  const update = (): void => {
    const connected = navigator.onLine;
    show(offline, !connected);
    show(failed, connected && chat.phase === 'failed');
    header.update();
    log.update();
    footer.update();
    element.setAttribute('aria-busy', String(chat.phase === 'starting'));
  };
  const onConnection = (): void => {
    update();
    if (navigator.onLine && chat.phase === 'failed') void chat.start().catch(() => undefined);
  };
  for (const name of ['online', 'offline']) addEventListener(name, onConnection);
  const stopBack = onClose && makeDialog(element, { id: bot.id, onClose });
  let stopFitting = (): void => undefined;
  return {
    element,
    update,
    focus: footer.focus,
    announceEvent(event) {
      if (event.type === 'message') announce(texts.typing);
      if (event.type === 'reply') announce(`${texts.title || bot.name}: ${plainText(event.entry.content)}`);
    },
    fit() {
      stopFitting = fitToViewport(element);
    },
    destroy() {
      stopFitting();
      stopBack?.();
      for (const name of ['online', 'offline']) removeEventListener(name, onConnection);
    },
  };
}
