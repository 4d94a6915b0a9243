import type { WidgetBot } from '../../widget/protocol.ts';
import { createApi } from './api.ts';
import { Chat, type ChatEvent } from './chat.ts';
import type { Failure } from './failure.ts';
import { createPanel, type Panel } from './panel.ts';
import { plainText } from '../../../../kit/browser/markdown.ts';
import type { Store } from './storage.ts';
import { localeOf } from './time.ts';
import { withDefaults } from './texts.ts';
import css from './chat.css';

export interface ChatWindowInit {
  readonly root: string;
  readonly botId: string;
  readonly bot: WidgetBot;
  /** BCP 47 tag of the page's language; empty if it names none. */
  readonly language: string;
  readonly local: Store;
  readonly session: Store;
  /** Name of the channel between tabs. */
  readonly channel: string;
  readonly createAvatar: () => HTMLElement;
  /** Null if the window cannot be closed. */
  readonly onClose: (() => void) | null;
  /** `text` is the plain text of an answer; of other events it is empty. */
  readonly onEvent: (event: ChatEvent, text: string) => void;
  readonly onFailure: (failure: Failure) => void;
}

/** The window of a bot, and its conversation. */
export interface ChatWindow {
  readonly chat: Chat;
  readonly panel: Panel;
  readonly css: string;
  destroy(): void;
}

export function createChatWindow(init: ChatWindowInit): ChatWindow {
  const { bot, local, session, channel, createAvatar, onFailure } = init;
  const texts = withDefaults(bot.texts, bot.name);
  const chat = new Chat({
    api: createApi(init.root, init.botId),
    bot,
    local,
    session,
    channel,
    onChange: () => redraw(),
    onEvent: (event) => {
      panel.announceEvent(event);
      init.onEvent(event, event.type === 'reply' ? plainText(event.entry.content) : '');
    },
    onFailure,
  });
  const panel = createPanel({
    environment: { bot, texts, chat, locale: localeOf(init.language), createAvatar },
    session,
    onClose: init.onClose,
  });
  let alive = true;
  const redraw = createRedraw(() => alive && panel.update());
  panel.update();
  return {
    chat,
    panel,
    css,
    destroy() {
      alive = false;
      panel.destroy();
      chat.destroy();
    },
  };
}

/** Redraws once per frame, however many changes there were; hidden tabs use a timer. */
function createRedraw(draw: () => void): () => void {
  let due = false;
  return () => {
    if (due) return;
    due = true;
    const now = (): void => {
      due = false;
      draw();
    };
    if (document.hidden) setTimeout(now, 50);
    else requestAnimationFrame(now);
  };
}
