import type { HostApi } from '#plugin-api';
import type { Bot } from '../bots/bot.ts';
import type { StoredMessage } from '../conversations/conversation.ts';
import type { WidgetBot, WidgetMessage } from './protocol.ts';

/** The part of a bot that visitors may see. */
export function widgetBot(
  { id, name, greeting, starters, look, texts, consent, feedback, ask_solved, privacy }: Bot,
  { rest }: { readonly rest: Pick<HostApi['rest'], 'url'> },
): WidgetBot {
  return {
    id,
    name,
    greeting,
    starters,
    look,
    texts,
    consent: { required: consent.required, text: consent.text },
    feedback,
    ask_solved,
    keeps: privacy.keep,
    image_origins: [...new Set([new URL(rest.url('/')).origin, ...privacy.image_origins])],
  };
}

export function widgetMessage({
  id,
  role,
  content,
  createdAt,
  sources,
  isPartial,
  feedback,
}: Pick<StoredMessage, 'id' | 'role' | 'content' | 'createdAt' | 'sources' | 'isPartial' | 'feedback'>): WidgetMessage {
  return { id, role, content, created_at: new Date(createdAt).toISOString(), sources, is_partial: isPartial, feedback };
}
