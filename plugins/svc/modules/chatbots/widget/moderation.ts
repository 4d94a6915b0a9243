import { BlockList, isIPv4 } from 'node:net';
import { plainAddress } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import type { Bot } from '../bots/bot.ts';
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

/** Whether a list contains an address, or a range with it (`203.0.113.0/24`). Invalid entries match nothing. */
export function isListed(ip: string, entries: readonly string[]): boolean {
  const address = plainAddress(ip);
  if (address === '' || entries.length === 0) return false;
  const list = new BlockList();
  for (const entry of entries) {
    const [base = '', bits] = entry.trim().split('/', 2);
    const network = plainAddress(base);
    if (network === '') continue;
    const family = isIPv4(network) ? 'ipv4' : 'ipv6';
    const length = bits === undefined ? null : Number(bits);
    if (length === null) list.addAddress(network, family);
    else if (Number.isInteger(length) && length >= 0 && length <= (family === 'ipv4' ? 32 : 128))
      list.addSubnet(network, length, family);
  }
  return list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}
