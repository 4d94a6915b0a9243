import { readTransfer } from '../../../admin-ui/read-transfer.ts';
import type { Bot, BotSettings, BotStore } from './bot.ts';
import { withoutMetadata } from './bot.ts';

/** Marks a file of bots. */
const format = 'svc-chatbots';
const version = 1;

/** One or several bots as JSON, for another site or for safe keeping: no ids, nothing secret, nothing of the site. */
export interface BotTransfer {
  readonly format: typeof format;
  readonly version: typeof version;
  readonly bots: readonly BotSettings[];
}

/** Bots as they travel. */
export function exportBots(bots: readonly Bot[]): BotTransfer {
  return { format, version, bots: bots.map(withoutMetadata) };
}

/**
 * Makes the bots of an export: all of them, or none where one is refused.
 *
 * @param text JSON as `exportBots` made it, up to 200 bots
 * @throws RestError 400 `rest_invalid_param`, every bad member by its path (`bots[1].embed.allowed_domains[0]`)
 */
export async function importBots(text: string, store: Pick<BotStore, 'createAll'>): Promise<readonly Bot[]> {
  return store.createAll(readTransfer(text, { format, version, list: 'bots', noun: 'chatbots' }));
}
