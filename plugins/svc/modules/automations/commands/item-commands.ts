import type { CliCommand } from '#plugin-api';
import type { Automations } from '../automations.ts';
import type { ItemChoice } from '../queue/item-store.ts';
import { itemStates } from '../queue/item.ts';
import { findTask, idArgument, moment } from './find-task.ts';

const chosen = [
  idArgument,
  { name: 'items', description: 'Ids of items, see svc task items; or use --all.', optional: true, rest: true },
];
const allFlag = { all: { type: 'boolean', description: 'all items for which it makes sense' } } as const;

/** Items of a task. */
export function itemCommands(automations: Automations): CliCommand[] {
  const { items, costs } = automations;
  return [
    {
      name: 'svc task items',
      description: 'List items of a task, newest first.',
      args: [idArgument],
      flags: {
        state: { type: 'string', enum: itemStates, description: 'only those in this state' },
        limit: { type: 'integer', minimum: 1, maximum: 200, default: 50, description: 'how many' },
        before: { type: 'integer', minimum: 1, description: 'only items below this id, for the next page' },
      },
      run: async ({ args: [id], flags }) => {
        const { state, limit, before } = flags as {
          readonly state?: (typeof itemStates)[number];
          readonly limit?: number;
          readonly before?: number;
        };
        const list = await items.list((await findTask(automations, id)).id, {
          limit: limit ?? 50,
          ...(state !== undefined && { state }),
          ...(before !== undefined && { before }),
        });
        const cost = await costs.ofItems(list);
        return list.map((item) => ({
          id: item.id,
          target: item.target,
          state: item.state,
          attempts: item.attempts,
          message: item.message,
          post: item.postId,
          cost: ((cost.get(item.id)?.cost ?? 0) / 1_000_000).toFixed(6),
          provider: item.ai?.provider ?? null,
          model: item.ai?.model ?? null,
          finished: moment(item.finishedAt),
        }));
      },
    },
    {
      name: 'svc task retry',
      description: 'Set failed or cancelled items of a task to go again.',
      args: chosen,
      flags: allFlag,
      run: async ({ args: [id, ...ids], flags }) => ({
        retried: await items.retry((await findTask(automations, id)).id, choiceOf(ids, flags)),
      }),
    },
    {
      name: 'svc task cancel',
      description: 'Cancel items of a task that wait or are under way.',
      args: chosen,
      flags: allFlag,
      run: async ({ args: [id, ...ids], flags }) => ({
        cancelled: await items.cancel((await findTask(automations, id)).id, choiceOf(ids, flags)),
      }),
    },
  ];
}

function choiceOf(ids: readonly string[], { all }: Readonly<Record<string, unknown>>): ItemChoice {
  if (all === true) return {};
  if (ids.length === 0) throw new Error('Name the items by their ids, or say --all.');
  const bad = ids.find((id) => !/^[1-9]\d{0,9}$/.test(id));
  if (bad !== undefined) throw new Error(`${bad} is no id of an item. See svc task items.`);
  return { ids: ids.map(Number) };
}
