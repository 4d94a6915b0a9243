import type { WidgetBot } from '../../widget/protocol.ts';
import type { BotTexts } from '../../bots/bot.ts';
import type { Chat } from './chat.ts';

/** What the parts of the window share. */
export interface Environment {
  readonly bot: WidgetBot;
  readonly texts: BotTexts;
  readonly chat: Chat;
  /** BCP 47 tag for dates and times. */
  readonly locale: string;
  readonly createAvatar: () => HTMLElement;
  /** Announces a text to screen readers. */
  readonly announce: (text: string) => void;
}
