import type { CliCommand, JsonSchema } from '#plugin-api';
import type { ServiceContext } from '../../wiring.ts';
import { readNewTarget } from './new-target.ts';
import { missingSettings } from '../../settings/configured.ts';
import { isListField } from '../../settings/field-value.ts';
import { maskSecret } from '../../settings/secret-reader.ts';
import { rowsOf } from './stores-view.ts';

type Store = ServiceContext['knownVectorStores'][number];

const idArgument = { name: 'id', description: 'Id of the vector store, for example qdrant.' };
const targetArgument = { name: 'name', description: 'Name of the index or collection.' };

/** `svc vector-store set|test|list|targets|create|delete`. The stores there are at registration make the flags. */
export function storeCommands(context: ServiceContext): CliCommand[] {
  const names = [
    ...new Set([
      'url',
      'api_key',
      ...context.knownVectorStores.flatMap((store) => Object.keys(store.settings.properties)),
    ]),
  ];
  return [
    {
      name: 'svc vector-store set',
      description: 'Change the settings of a vector store. An empty value removes one; what is not named stays.',
      args: [idArgument],
      flags: Object.fromEntries(names.map((name) => [flagOf(name), flagSchema(name, context.knownVectorStores)])),
      run: async ({ args: [id = ''], flags }) => {
        const store = find(context, id);
        const changes = changesOf(store, names, flags);
        if (Object.keys(changes).length === 0)
          throw new Error(`Name what to change, for example: svc vector-store set ${id} --url=...`);
        await context.vectorStoreSettings.save(store, changes);
        return describe(context, store);
      },
    },
    {
      name: 'svc vector-store test',
      description: 'Make a real call to a vector store.',
      args: [idArgument],
      run: async ({ args: [id = ''] }) => {
        const result = await context.testVectorStore(find(context, id).id);
        if (!result.ok) throw new Error(result.message);
        return { id, works: true, targets: result.targets, milliseconds: result.milliseconds };
      },
    },
    {
      name: 'svc vector-store list',
      description: 'List the vector stores and whether they are configured.',
      run: async () => Promise.all(context.vectorStores.all().map((store) => describe(context, store))),
    },
    ...targetCommands(context),
  ];
}

function targetCommands(context: ServiceContext): CliCommand[] {
  return [
    {
      name: 'svc vector-store targets',
      description: 'List the indexes or collections of a vector store.',
      args: [idArgument],
      run: async ({ args: [id = ''] }) => rowsOf(context, find(context, id)),
    },
    {
      name: 'svc vector-store create',
      description: 'Make an index or collection.',
      args: [idArgument, targetArgument],
      flags: {
        dimension: { type: 'string', description: 'Length of the vectors, such as 1536.' },
        metric: { type: 'string', description: 'cosine, euclidean or dotproduct; cosine where it is left out.' },
      },
      run: async ({ args: [id = '', name = ''], flags }) => {
        const store = find(context, id);
        const target = readNewTarget(store, {
          name,
          dimension: String(flags['dimension'] ?? ''),
          metric: String(flags['metric'] ?? ''),
        });
        await (await context.openVectorStore(id)).create(target);
        return { id, ...target, created: true };
      },
    },
    {
      name: 'svc vector-store delete',
      description: 'Delete an index or collection and all it holds.',
      args: [idArgument, targetArgument],
      flags: { yes: { type: 'boolean', description: 'Really: it cannot be brought back.' } },
      run: async ({ args: [id = '', name = ''], flags }) => {
        find(context, id);
        if (flags['yes'] !== true)
          throw new Error(`This deletes ${name} and all it holds. Say so: svc vector-store delete ${id} ${name} --yes`);
        await (await context.openVectorStore(id)).remove(name);
        return { id, name, deleted: true };
      },
    },
  ];
}

function flagOf(name: string): string {
  return name.replaceAll('_', '-');
}

/** The settings that flags name. A list is written with commas. */
function changesOf(
  store: Store,
  names: readonly string[],
  flags: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  for (const name of names) {
    const value = flags[flagOf(name)];
    if (value === undefined) continue;
    const schema = Object.hasOwn(store.settings.properties, name) ? store.settings.properties[name] : undefined;
    changes[name] = schema && isListField(schema) ? String(value).split(',') : value;
  }
  return changes;
}

function flagSchema(name: string, stores: readonly Store[]): JsonSchema {
  const description = stores
    .map((store) => store.settings.properties[name]?.title)
    .find((title) => title !== undefined);
  return { type: 'string', ...(description !== undefined && { description }) };
}

function find(context: ServiceContext, id: string): Store {
  const store = context.vectorStores.get(id);
  if (store) return store;
  throw new Error(`There is no vector store '${id}'. Use one of ${context.vectorStoreIds().join(', ')}.`);
}

/** What may be printed of a store: secrets masked (D3). */
async function describe(context: ServiceContext, store: Store): Promise<Record<string, unknown>> {
  const saved = await context.vectorStoreSettings.saved(store);
  const values = Object.entries(store.settings.properties).map(([name, schema]) => {
    const value = saved[name];
    return [name, schema.writeOnly && typeof value === 'string' ? maskSecret(value) : (value ?? '')];
  });
  return {
    id: store.id,
    label: store.label,
    configured: missingSettings(store, saved).length === 0,
    ...Object.fromEntries(values),
  };
}
