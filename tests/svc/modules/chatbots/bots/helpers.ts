import { createFakeClock } from '#testing';
import { createHooks } from '../../../../../host/hooks/hooks.ts';
import type { Database } from '../../../../../host/database/database.ts';
import { createBotStore } from '../../../../../plugins/svc/modules/chatbots/bots/bot-store.ts';
import { botsMigration } from '../../../../../plugins/svc/modules/chatbots/bots/bots-table.ts';
import type { BotStore } from '../../../../../plugins/svc/modules/chatbots/bots/bot.ts';
import { RestError } from '#plugin-api';

export const known = {
  textProviders: ['openai', 'claude'],
  embeddingProviders: ['openai'],
  vectorStores: ['qdrant'],
  knowledgeBases: [7],
};

export interface OpenedBots {
  readonly bots: BotStore;
  readonly clock: ReturnType<typeof createFakeClock>;
  readonly hooks: ReturnType<typeof createHooks>;
}

/** A store of bots on a database, as one node has it. */
export async function openBots(database: Database, names = known): Promise<OpenedBots> {
  const clock = createFakeClock();
  const hooks = createHooks();
  await database.migrate('svc', [botsMigration]);
  const bots = createBotStore({
    host: { database, clock, hooks },
    known: async () => names,
    firstModel: async () => ({ provider: 'openai', model: 'gpt-first' }),
  });
  return { bots, clock, hooks };
}

/** The sentences of a refused change, by path. */
export async function errorsOf(work: Promise<unknown>): Promise<Record<string, string>> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof RestError) || error.code !== 'rest_invalid_param' || error.status !== 400)
    throw new Error('It was not refused as it should be.', { cause: error });
  return (error.data as { params: Record<string, string> }).params;
}
