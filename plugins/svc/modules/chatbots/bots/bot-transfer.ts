import { invalidFields } from '../../../settings/invalid-fields.ts';
import type { Bot, BotSettings, BotStore } from './bot.ts';
import { settingsOf } from './bot-record.ts';
import { isMembers } from '../../../kit/settings-schema/fill.ts';

/** Marks a file of bots. */
const format = 'svc-chatbots';
const version = 1;
const most = 200;

/** One or several bots as JSON, for another site or for safe keeping: no ids, nothing secret, nothing of the site. */
export interface BotTransfer {
  readonly format: typeof format;
  readonly version: typeof version;
  readonly bots: readonly BotSettings[];
}

/** Bots as they travel. */
export function exportBots(bots: readonly Bot[]): BotTransfer {
  return { format, version, bots: bots.map(settingsOf) };
}

/**
 * Makes the bots of an export: all of them, or none where one is refused.
 *
 * @param text JSON as `exportBots` made it, up to 200 bots
 * @throws RestError 400 `rest_invalid_param`, every bad member by its path (`bots[1].embed.allowed_domains[0]`)
 */
export async function importBots(text: string, store: Pick<BotStore, 'createAll'>): Promise<readonly Bot[]> {
  return store.createAll(readTransfer(text));
}

function readTransfer(text: string): readonly unknown[] {
  let transfer: unknown;
  try {
    transfer = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    throw invalidFields({ file: 'The file is not JSON.' });
  }
  if (!isMembers(transfer) || transfer['format'] !== format) throw invalidFields({ format: `The file is no export of chatbots: its format is not ${format}.` });
  if (transfer['version'] !== version) throw invalidFields({ version: `The file has version ${JSON.stringify(transfer['version'] ?? null)}; version ${String(version)} can be read here.` });
  const { bots } = transfer;
  if (!Array.isArray(bots) || bots.length === 0 || bots.length > most) throw invalidFields({ bots: `bots must be a list of 1 to ${String(most)} chatbots.` });
  return bots;
}
