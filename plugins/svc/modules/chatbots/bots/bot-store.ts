import type { HostApi } from '#plugin-api';
import type { KnownNames } from '../../../ai/answerers/known-names.ts';
import { errors } from '../../../kit/errors.ts';
import { invalidFields } from '../../../settings/invalid-fields.ts';
import type { Bot, BotSettings, BotStore } from './bot.ts';
import { settingsFaults } from './bot-faults.ts';
import { settingsOf } from './bot-record.ts';
import { createBotRows } from './bot-rows.ts';
import '../hooks.ts';
import { botSchema } from './schema/bot-schema.ts';
import { createShapeCheck, type Faults } from '../../../kit/settings-schema/check-shape.ts';
import { fillDefaults, isMembers, mergeChanges } from '../../../kit/settings-schema/fill.ts';

const shapeFaults = createShapeCheck(botSchema);

export interface BotStoreParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'hooks'>;
  readonly known: () => Promise<KnownNames>;
  /** What a new bot answers with where it names no provider: the first that is configured. */
  readonly firstModel: () => Promise<{ readonly provider: string; readonly model: string }>;
}

/**
 * The bots, one row each. Nothing is remembered but the reading of a row's text, so that every node sees a change with its
 * next call. Two changes of one bot at the same time are made one after the other, neither is lost.
 */
export function createBotStore({ host, known, firstModel }: BotStoreParts): BotStore {
  const { database, hooks } = host;
  const rows = createBotRows(host);

  async function make(list: readonly BotSettings[]): Promise<readonly Bot[]> {
    const made = await database.transaction(async () => {
      const bots: Bot[] = [];
      for (const settings of list) bots.push(await rows.insert(settings));
      return bots;
    });
    for (const bot of made) await hooks.doActionAsync('svc_chatbot_saved', bot, null);
    return made;
  }
  const makeOne = async (settings: BotSettings): Promise<Bot> => (await make([settings]))[0] as Bot;
  /** With the defaults; the default model belongs to the default provider. */
  async function complete(given: unknown): Promise<unknown> {
    if (!isMembers(given)) return given;
    const chosen = Object.hasOwn(given, 'provider') ? {} : await firstModel();
    return fillDefaults(botSchema, { ...chosen, ...given });
  }

  return {
    get: (id) => rows.find(id),
    list: () => rows.list(),
    create: async (given) => makeOne(checked(await complete(given), await known(), null)),
    async createAll(list) {
      const names = await known();
      const settings = await Promise.all(list.map(complete));
      const faults = settings.map((one, at) => below(`bots[${String(at)}]`, botFaults(one, names, null)));
      refuse(Object.assign({}, ...faults) as Faults);
      return make(settings as BotSettings[]);
    },
    async update(id, changes) {
      if (!isMembers(changes)) throw invalidFields({ '': 'The changes are an object of settings.' });
      const names = await known();
      const { before, bot } = await database.transaction(async () => {
        const found = await rows.find(id, true);
        if (found === null) throw errors.bot_not_found({ values: { id } });
        const settings = settingsOf(found);
        const changed = mergeChanges(botSchema, settings, withModel(changes, settings));
        return { before: found, bot: await rows.replace(found, checked(fillDefaults(botSchema, changed), names, settings)) };
      });
      await hooks.doActionAsync('svc_chatbot_saved', bot, before);
      return bot;
    },
    async duplicate(id) {
      const bot = await rows.find(id);
      if (bot === null) throw errors.bot_not_found({ values: { id } });
      return makeOne({ ...settingsOf(bot), name: `${[...bot.name].slice(0, 193).join('')} (copy)`, status: 'inactive' });
    },
    async delete(id) {
      const bot = await rows.find(id);
      if (bot === null || !(await rows.remove(id))) return false;
      await hooks.doActionAsync('svc_chatbot_deleted', bot);
      return true;
    },
    defaults: async () => ({ ...(fillDefaults(botSchema, {}) as BotSettings), ...(await firstModel()) }),
  };
}

/** @throws RestError 400 `rest_invalid_param` with a sentence for every bad member, by its path */
function checked(settings: unknown, known: KnownNames, before: BotSettings | null): BotSettings {
  refuse(botFaults(settings, known, before));
  return settings as BotSettings;
}

function refuse(faults: Faults): void {
  if (Object.keys(faults).length > 0) throw invalidFields(faults);
}

function botFaults(settings: unknown, known: KnownNames, before: BotSettings | null): Faults {
  const shape = shapeFaults(settings);
  return Object.keys(shape).length > 0 ? shape : settingsFaults(settings as BotSettings, known, before);
}

/** The faults of one of several. A sentence begins with the path it is about. */
function below(place: string, faults: Faults): Faults {
  return Object.fromEntries(Object.entries(faults).map(([path, sentence]) => (path === '' ? [place, `${place}: ${sentence}`] : [`${place}.${path}`, `${place}.${sentence}`])));
}

/** Another provider without a model of its own: the model there was is not that provider's, so it takes the saved one. */
function withModel(changes: Readonly<Record<string, unknown>>, { provider }: BotSettings): Readonly<Record<string, unknown>> {
  const moves = Object.hasOwn(changes, 'provider') && changes['provider'] !== provider;
  return moves && !Object.hasOwn(changes, 'model') ? { ...changes, model: '' } : changes;
}
