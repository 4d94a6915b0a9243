import type { WidgetBot } from '../../widget/protocol.ts';
import type { BotTexts } from '../../bots/bot.ts';
import type { Chat } from './chat.ts';

/** What every part of the window works with. */
export interface Surroundings {
  readonly bot: WidgetBot;
  readonly texts: BotTexts;
  readonly chat: Chat;
  /** Says something to those who hear the page. */
  readonly say: (text: string) => void;
}
