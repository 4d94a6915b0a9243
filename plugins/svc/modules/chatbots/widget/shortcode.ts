import { parseId, type ShortcodeAttributes, type User } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import type { Bot } from '../bots/bot.ts';
import { widgetMarkup } from './embed.ts';

const modes = ['inline', 'popup', 'page'] as const;

/**
 * `[svc_chatbot id=7]`, `[svc_chatbot 7 mode=popup]`: the widget in a page of the site, inline by default. If it cannot be
 * shown, administrators see the reason and visitors see nothing.
 */
export function createShortcode(
  parts: Pick<ChatbotParts, 'host' | 'bots'>,
): (attributes: ShortcodeAttributes, viewer: User | undefined) => Promise<string> {
  const { host, bots } = parts;
  return async (attributes, viewer) => {
    const id = attributes['id'] ?? attributes['0'] ?? '';
    const bot = await bots.get(parseId(id));
    const error = findError(id, bot) ?? modeError(attributes['mode']);
    if (bot !== null && error === null)
      return widgetMarkup(host, { bot, mode: (attributes['mode'] as (typeof modes)[number] | undefined) ?? 'inline' });
    return viewer?.can('manage_options') ? host.views.render('svc/chatbots/notice', { error }) : '';
  };
}

function findError(id: string, bot: Bot | null): string | null {
  if (id === '') return 'Add the id of the chatbot: [svc_chatbot id=7].';
  if (bot === null) return `There is no chatbot with the id ${id}.`;
  if (bot.status !== 'active') return `“${bot.name}” is not active.`;
  return bot.embed.enabled ? null : `“${bot.name}” cannot be shown: embedding is off in its settings.`;
}

function modeError(mode: string | undefined): string | null {
  return mode === undefined || (modes as readonly string[]).includes(mode)
    ? null
    : `Unknown mode “${mode}”. Use ${modes.join(', ')}.`;
}
