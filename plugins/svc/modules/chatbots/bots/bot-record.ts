import type { Bot, BotSettings } from './bot.ts';

/** What is set of a bot, without its id and times. */
export function settingsOf({ id: _id, created_at: _created, updated_at: _updated, ...settings }: Bot): BotSettings {
  return settings;
}

/** A bot as commands print it: its id first, times as ISO 8601. */
export function botRecord(bot: Bot): Record<string, unknown> {
  return { id: bot.id, ...settingsOf(bot), created_at: isoTime(bot.created_at), updated_at: isoTime(bot.updated_at) };
}

function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
