import type { Bot } from './bots/bot.ts';

declare module '#plugin-api' {
  interface ActionMap {
    /** A chatbot was made or changed; second argument: as it was before, null for a new one. Runs after it is stored. */
    svc_chatbot_saved: (bot: Bot, before: Bot | null) => void;
    /** A chatbot was deleted. Its conversations stay in the logs (D14). */
    svc_chatbot_deleted: (bot: Bot) => void;
  }
}
