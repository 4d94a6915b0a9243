import type { ShortcodeAttributes, User } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import type { Bot } from '../bots/bot.ts';
import { widgetMarkup } from './embed.ts';

const modes = ['inline', 'popup', 'page'] as const;

/**
 * `[svc_chatbot id=7]`, `[svc_chatbot 7 mode=popup]`: the widget in a page of the site, in its place unless told otherwise.
 * Where it cannot be shown, administrators read why, and visitors see nothing.
 */
export function createShortcode(
  parts: ChatbotParts,
): (attributes: ShortcodeAttributes, viewer: User | undefined) => Promise<string> {
  const { host } = parts;
  const { bots } = parts;
  return async (attributes, viewer) => {
    const id = attributes['id'] ?? attributes['0'] ?? '';
    const bot = /^[1-9]\d{0,9}$/.test(id) ? await bots.get(Number(id)) : null;
    const error = errorOf(id, bot) ?? modeError(attributes['mode']);
    if (bot !== null && error === null)
      return widgetMarkup(host, { bot, mode: (attributes['mode'] as (typeof modes)[number] | undefined) ?? 'inline' });
    return viewer?.can('manage_options') ? host.views.render('svc/chatbots/notice', { error }) : '';
  };
}

function errorOf(id: string, bot: Bot | null): string | null {
  if (id === '') return 'Which one? Write its number: [svc_chatbot id=7].';
  if (bot === null) return `There is no chatbot with the number ${id}.`;
  if (bot.status !== 'active') return `“${bot.name}” is not active.`;
  return bot.embed.enabled ? null : `“${bot.name}” may not be shown: its switch for embedding is off.`;
}

function modeError(mode: string | undefined): string | null {
  return mode === undefined || (modes as readonly string[]).includes(mode)
    ? null
    : `The mode “${mode}” is none of ${modes.join(', ')}.`;
}
