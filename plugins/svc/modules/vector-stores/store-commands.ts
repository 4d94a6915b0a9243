import { fieldKind, type CliCommand, type JsonSchema } from '#plugin-api';
import type { Store, VectorStoresPorts } from './module.ts';
import { readNewTarget } from './new-target.ts';
import { describeConfigured, droppedSecretsText } from '../../settings/configured.ts';
import { listTargets } from './stores-view.ts';

const idArgument = { name: 'id', description: 'Id of the vector store, for example qdrant.' };
const targetArgument = { name: 'name', description: 'Name of the index or collection.' };

/** `svc vector-store set|test|list|targets|create|delete`. The stores at registration define the flags. */
export function storeCommands(ports: VectorStoresPorts): CliCommand[] {
  const names = [
    ...new Set([
      'url',
      'api_key',
      ...ports.knownVectorStores.flatMap((store) => Object.keys(store.settings.properties)),
    ]),
  ];
  return [
    {
      name: 'svc vector-store set',
      description: 'Change the settings of a vector store. An empty value removes a setting.',
      args: [idArgument],
      flags: Object.fromEntries(names.map((name) => [flagOf(name), flagSchema(name, ports.knownVectorStores)])),
      run: async ({ args: [id = ''], flags }) => {
        const store = findStore(ports, id);
        const changes = readSettings(store, names, flags);
        if (Object.keys(changes).length === 0)
          throw new Error(`Pass at least one setting, for example: svc vector-store set ${id} --url=...`);
        const warning = droppedSecretsText(await ports.vectorStoreSettings.save(store, changes));
        return { ...(await describe(ports, store)), ...(warning !== '' && { warning }) };
      },
    },
    {
      name: 'svc vector-store test',
      description: 'Make a real call to a vector store.',
      args: [idArgument],
      run: async ({ args: [id = ''] }) => {
        const result = await ports.testVectorStore(findStore(ports, id).id);
        if (!result.ok) throw new Error(result.message);
        return { id, works: true, targets: result.targets, milliseconds: result.milliseconds };
      },
    },
    {
      name: 'svc vector-store list',
      description: 'List the vector stores and whether they are configured.',
      run: async () => Promise.all(ports.vectorStores.all().map((store) => describe(ports, store))),
    },
    ...targetCommands(ports),
  ];
}

function targetCommands(ports: VectorStoresPorts): CliCommand[] {
  return [
    {
      name: 'svc vector-store targets',
      description: 'List the indexes or collections of a vector store.',
      args: [idArgument],
      run: async ({ args: [id = ''] }) => listTargets(ports, findStore(ports, id)),
    },
    {
      name: 'svc vector-store create',
      description: 'Create an index or collection.',
      args: [idArgument, targetArgument],
      flags: {
        dimension: { type: 'string', description: 'Length of the vectors, such as 1536.' },
        metric: { type: 'string', description: 'cosine, euclidean or dotproduct. Default: cosine.' },
      },
      run: async ({ args: [id = '', name = ''], flags }) => {
        const store = findStore(ports, id);
        const target = readNewTarget(store, {
          name,
          dimension: String(flags['dimension'] ?? ''),
          metric: String(flags['metric'] ?? ''),
        });
        await (await ports.openVectorStore(id)).create(target);
        return { id, ...target, created: true };
      },
    },
    {
      name: 'svc vector-store delete',
      description: 'Delete an index or collection with its contents.',
      args: [idArgument, targetArgument],
      flags: { yes: { type: 'boolean', description: 'Confirm: this cannot be undone.' } },
      run: async ({ args: [id = '', name = ''], flags }) => {
        findStore(ports, id);
        if (flags['yes'] !== true)
          throw new Error(
            `This deletes ${name} with its contents. To confirm, run svc vector-store delete ${id} ${name} --yes`,
          );
        await (await ports.openVectorStore(id)).remove(name);
        return { id, name, deleted: true };
      },
    },
  ];
}

function flagOf(name: string): string {
  return name.replaceAll('_', '-');
}

/** The settings of the flags. Commas separate the items of a list. */
function readSettings(
  store: Store,
  names: readonly string[],
  flags: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  for (const name of names) {
    const value = flags[flagOf(name)];
    if (value === undefined) continue;
    const schema = Object.hasOwn(store.settings.properties, name) ? store.settings.properties[name] : undefined;
    changes[name] = schema && fieldKind(schema) === 'lines' ? String(value).split(',') : value;
  }
  return changes;
}

function flagSchema(name: string, stores: readonly Store[]): JsonSchema {
  const description = stores
    .map((store) => store.settings.properties[name]?.title)
    .find((title) => title !== undefined);
  const isSecret = stores.some((store) => store.settings.properties[name]?.writeOnly === true);
  return { type: 'string', ...(description !== undefined && { description }), ...(isSecret && { writeOnly: true }) };
}

function findStore(ports: VectorStoresPorts, id: string): Store {
  const store = ports.vectorStores.get(id);
  if (store) return store;
  throw new Error(`Unknown vector store '${id}'. Use one of ${ports.vectorStoreIds().join(', ')}.`);
}

/** A store's settings for output, with masked secrets (D3). */
async function describe(ports: VectorStoresPorts, store: Store): Promise<Record<string, unknown>> {
  const saved = await ports.vectorStoreSettings.saved(store);
  return describeConfigured(store, saved, await ports.vectorStoreSettings.unreadable(store));
}
