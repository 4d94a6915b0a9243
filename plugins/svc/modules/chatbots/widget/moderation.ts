import { errors } from '../../../kit/errors.ts';
import { foldText } from '../../../kit/fold-text.ts';
import type { Bot } from '../bots/bot.ts';
import { isListed } from './address.ts';

/** @throws RestError 403 `rest_svc_message_refused` with the bot's own words, for a banned address. */
export function checkAddress({ moderation }: Pick<Bot, 'moderation'>, ip: string): void {
  if (isListed(ip, moderation.banned_addresses)) throw errors.message_refused({ values: { reason: moderation.message } });
}

/** @throws RestError 403 `rest_svc_message_refused` for a banned word: whole words, without regard to case and accents. */
export function checkWords({ moderation }: Pick<Bot, 'moderation'>, text: string): void {
  if (hasBannedWord(text, moderation.banned_words)) throw errors.message_refused({ values: { reason: moderation.message } });
}

export function hasBannedWord(text: string, banned: readonly string[]): boolean {
  if (banned.length === 0) return false;
  const padded = ` ${wordsOf(text)} `;
  return banned.some((entry) => {
    const words = wordsOf(entry);
    // Of an entry without letters and digits, `***` say, the characters themselves count.
    return words === '' ? entry.trim() !== '' && text.includes(entry.trim()) : padded.includes(` ${words} `);
  });
}

/** Letters and digits in lower case and without accents; everything between them is one space. Invisible characters split no word. */
function wordsOf(text: string): string {
  return foldText(text.replace(/\p{Cf}/gu, '')).replace(/[^\p{L}\p{N}]+/gu, ' ').trim();
}
