import { readTransfer } from '../../../admin-ui/read-transfer.ts';
import type { Bot, BotSettings, BotStore } from './bot.ts';
import { withoutMetadata } from './bot.ts';

/** Identifies a file of bots. */
const format = 'svc-chatbots';
const version = 1;

/** Bots as JSON, for another site or a backup: no ids, no secrets, nothing about the site. */
export interface BotTransfer {
  readonly format: typeof format;
  readonly version: typeof version;
  readonly bots: readonly BotSettings[];
}

export function exportBots(bots: readonly Bot[]): BotTransfer {
  return { format, version, bots: bots.map(withoutMetadata) };
}

/**
 * Creates the bots of an export: all of them, or none if one is invalid.
 *
 * @param text JSON of `exportBots`, up to 200 bots.
 * @throws RestError 400 `rest_invalid_param`, every invalid member by its path (`bots[1].embed.allowed_domains[0]`)
 */
export async function importBots(text: string, store: Pick<BotStore, 'createAll'>): Promise<readonly Bot[]> {
  return store.createAll(readTransfer(text, { format, version, list: 'bots', noun: 'chatbots' }));
}
