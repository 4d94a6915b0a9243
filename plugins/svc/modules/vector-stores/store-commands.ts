import type { CliCommand } from '#plugin-api';
import type { Store, VectorStoresPorts } from './module.ts';
import { configuredCommands } from '../../settings/configured-commands.ts';
import { listTargets, readTarget } from './stores-view.ts';

const idArgument = { name: 'id', description: 'Id of the vector store, for example qdrant.' };
const targetArgument = { name: 'name', description: 'Name of the index or collection.' };

/** `svc vector-store set|test|list|targets|create|delete`. The stores at registration define the flags. */
export function storeCommands(ports: VectorStoresPorts): CliCommand[] {
  const { set, list } = configuredCommands({
    command: 'svc vector-store',
    descriptions: {
      set: 'Change the settings of a vector store. An empty value removes a setting.',
      list: 'List the vector stores and whether they are configured.',
    },
    idArgument,
    registered: ports.knownVectorStores,
    common: ['url', 'api_key'],
    example: '--url=...',
    settings: ports.vectorStoreSettings,
    all: () => ports.vectorStores.all(),
    find: (id) => findStore(ports, id),
  });
  return [
    set,
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
    list,
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
        const target = readTarget(store, { ...flags, name });
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

function findStore(ports: VectorStoresPorts, id: string): Store {
  const store = ports.vectorStores.get(id);
  if (store) return store;
  throw new Error(`Unknown vector store '${id}'. Use one of ${ports.vectorStoreIds().join(', ')}.`);
}
