import type { Clock, DatabaseApi } from '#plugin-api';
import type { Bot, BotSettings } from './bot.ts';
import { botsTable } from './bots-table.ts';
import { botSchema } from './schema/bot-schema.ts';
import { fillDefaults } from '../../../kit/settings-schema/fill.ts';

interface Row {
  readonly id: number;
  readonly settings: string;
  readonly created_at: number | string;
  readonly updated_at: number | string;
}

/** The rows of bots, as bots. Each takes part in the transaction it is called in. */
export interface BotRows {
  /** `lock`: nobody else changes it before the running transaction ends. */
  find(id: number, lock?: boolean): Promise<Bot | null>;
  list(): Promise<readonly Bot[]>;
  insert(settings: BotSettings): Promise<Bot>;
  replace(before: Bot, settings: BotSettings): Promise<Bot>;
  remove(id: number): Promise<boolean>;
}

/** PostgreSQL's ids have 32 bits; a larger one is no bot's on either dialect. */
const largestId = 2_147_483_647;

export function createBotRows({ database, clock }: { readonly database: Pick<DatabaseApi, 'knex' | 'dialect'>; readonly clock: Clock }): BotRows {
  const table = () => database.knex<Row>(botsTable);
  const read = createReader();
  return {
    async find(id, lock = false) {
      if (!Number.isInteger(id) || id < 1 || id > largestId) return null;
      const query = table().where({ id }).first();
      const row = await (lock && database.dialect === 'postgresql' ? query.forUpdate() : query);
      return row === undefined ? null : read(row);
    },
    list: async () => (await table().orderBy('id')).map((row) => read(row as Row)),
    async insert(settings) {
      const now = clock.now();
      const [row] = await table().insert({ settings: JSON.stringify(settings), created_at: now, updated_at: now }).returning('id');
      return { ...settings, id: Number(row?.id), created_at: now, updated_at: now };
    },
    async replace({ id, created_at }, settings) {
      const now = clock.now();
      await table().where({ id }).update({ settings: JSON.stringify(settings), updated_at: now });
      return { ...settings, id, created_at, updated_at: now };
    },
    remove: async (id) => (await table().where({ id }).delete()) > 0,
  };
}

/** Rows are read once for each text they hold; what an older version stored gets the defaults of what it did not know. */
function createReader(): (row: Row) => Bot {
  const kept = new Map<number, { readonly text: string; readonly settings: BotSettings }>();
  return ({ id, settings: text, created_at, updated_at }) => {
    const known = kept.get(id);
    const settings = known?.text === text ? known.settings : (fillDefaults(botSchema, JSON.parse(text), 'drop') as BotSettings);
    if (kept.size >= 1_000) kept.clear();
    kept.set(id, { text, settings });
    return { ...settings, id: Number(id), created_at: Number(created_at), updated_at: Number(updated_at) };
  };
}
