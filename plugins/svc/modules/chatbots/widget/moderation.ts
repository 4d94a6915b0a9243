import { errors } from '../../../kit/errors.ts';
import type { Bot } from '../bots/bot.ts';
import { isListed } from '../../../kit/visitors/address.ts';
import { hasBannedWord } from '../../../kit/fold-text.ts';

/** @throws RestError 403 `rest_svc_message_refused` with the bot's own message, for a banned address. */
export function checkAddress({ moderation }: Pick<Bot, 'moderation'>, ip: string): void {
  if (isListed(ip, moderation.banned_addresses))
    throw errors.message_refused({ values: { reason: moderation.message } });
}

/** Compares whole words and ignores case and accents. @throws RestError 403 `rest_svc_message_refused` for a banned word. */
export function checkBannedWords({ moderation }: Pick<Bot, 'moderation'>, text: string): void {
  if (hasBannedWord(text, moderation.banned_words))
    throw errors.message_refused({ values: { reason: moderation.message } });
}
