import type { HostApi } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { invalidFields } from '../../../settings/invalid-fields.ts';
import type { Bot, BotSettings, BotStore } from './bot.ts';
import { settingsFaults, type KnownNames } from './bot-faults.ts';
import { botsTable } from './bots-table.ts';
import '../hooks.ts';
import { botSchema } from './schema/bot-schema.ts';
import { shapeFaults } from './schema/check-shape.ts';
import { fillDefaults, isMembers, mergeChanges } from './schema/fill.ts';

export interface BotStoreParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'hooks'>;
  readonly known: () => Promise<KnownNames>;
  /** What a new bot answers with where it names no provider: the first that is configured. */
  readonly firstModel: () => Promise<{ readonly provider: string; readonly model: string }>;
}

interface Row {
  readonly id: number;
  readonly settings: string;
  readonly created_at: number | string;
  readonly updated_at: number | string;
}

/** PostgreSQL's ids have 32 bits; a larger one is no bot's on either dialect. */
const largestId = 2_147_483_647;

/**
 * The bots, one row each. Nothing is remembered but the reading of a row's text, so that every node sees a change with its
 * next call. Two changes of one bot at the same time are made one after the other, neither is lost.
 */
export function createBotStore({ host, known, firstModel }: BotStoreParts): BotStore {
  const { database, clock, hooks } = host;
  const table = () => database.knex<Row>(botsTable);
  const read = createReader();

  async function find(id: number, lock = false): Promise<Bot | null> {
    if (!Number.isInteger(id) || id < 1 || id > largestId) return null;
    const query = table().where({ id }).first();
    const row = await (lock && database.dialect === 'postgresql' ? query.forUpdate() : query);
    return row === undefined ? null : read(row);
  }

  async function insert(settings: BotSettings): Promise<Bot> {
    const now = clock.now();
    const [row] = await table().insert({ settings: JSON.stringify(settings), created_at: now, updated_at: now }).returning('id');
    const bot = { ...settings, id: Number(row?.id), created_at: now, updated_at: now };
    await hooks.doActionAsync('svc_chatbot_saved', bot, null);
    return bot;
  }

  const defaults = async (): Promise<BotSettings> => ({ ...(fillDefaults(botSchema, {}) as BotSettings), ...(await firstModel()) });

  return {
    get: (id) => find(id),
    list: async () => (await table().orderBy('id')).map((row) => read(row as Row)),
    async create(given) {
      if (!isMembers(given)) throw invalidFields({ '': 'A chatbot is an object of settings.' });
      // The default model belongs to the default provider.
      const chosen = Object.hasOwn(given, 'provider') ? {} : await firstModel();
      return insert(checked(fillDefaults(botSchema, { ...chosen, ...given }), await known(), null));
    },
    async update(id, changes) {
      if (!isMembers(changes)) throw invalidFields({ '': 'The changes are an object of settings.' });
      const names = await known();
      const saved = await database.transaction(async () => {
        const before = await find(id, true);
        if (before === null) throw errors.bot_not_found({ values: { id } });
        const { id: _id, created_at, updated_at: _at, ...settings } = before;
        const after = checked(fillDefaults(botSchema, mergeChanges(botSchema, settings, withModel(changes, settings))), names, settings);
        const now = clock.now();
        await table().where({ id }).update({ settings: JSON.stringify(after), updated_at: now });
        return { before, bot: { ...after, id, created_at, updated_at: now } };
      });
      await hooks.doActionAsync('svc_chatbot_saved', saved.bot, saved.before);
      return saved.bot;
    },
    async duplicate(id) {
      const bot = await find(id);
      if (bot === null) throw errors.bot_not_found({ values: { id } });
      const { id: _id, created_at: _created, updated_at: _updated, ...settings } = bot;
      return insert({ ...settings, name: `${[...settings.name].slice(0, 193).join('')} (copy)`, status: 'inactive' });
    },
    async delete(id) {
      const bot = await find(id);
      if (bot === null || (await table().where({ id }).delete()) === 0) return false;
      await hooks.doActionAsync('svc_chatbot_deleted', bot);
      return true;
    },
    defaults,
  };
}

/** @throws RestError 400 `rest_invalid_param` with a sentence for every bad member, by its path */
export function checked(settings: unknown, known: KnownNames, before: BotSettings | null): BotSettings {
  const shape = shapeFaults(settings);
  if (Object.keys(shape).length > 0) throw invalidFields(shape);
  const faults = settingsFaults(settings as BotSettings, known, before);
  if (Object.keys(faults).length > 0) throw invalidFields(faults);
  return settings as BotSettings;
}

/** Another provider without a model of its own: the model there was is not that provider's, so it takes the saved one. */
function withModel(changes: Readonly<Record<string, unknown>>, { provider }: BotSettings): Readonly<Record<string, unknown>> {
  const moves = Object.hasOwn(changes, 'provider') && changes['provider'] !== provider;
  return moves && !Object.hasOwn(changes, 'model') ? { ...changes, model: '' } : changes;
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
