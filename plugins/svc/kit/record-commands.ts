import { parseId, isRecord, type CliCommand, type JsonSchema } from '#plugin-api';
import { transferCommands, type TransferCommandsInit } from './transfer-commands.ts';

type Members = Readonly<Record<string, unknown>>;

export interface RecordCommandsInit<Item extends { readonly id: number }> {
  /** The commands without their last word, for example `svc bot`. */
  readonly command: string;
  /** For sentences: `chatbot`. */
  readonly noun: string;
  readonly store: {
    get(id: number): Promise<Item | null>;
    create(settings: unknown): Promise<Item>;
    update(id: number, changes: unknown): Promise<Item>;
    duplicate(id: number): Promise<Item>;
    delete(id: number): Promise<boolean>;
  };
  readonly descriptions: Readonly<Record<'list' | 'get' | 'create' | 'update' | 'duplicate' | 'delete', string>>;
  /** The rows of the list. */
  list(): Promise<unknown>;
  /** What the commands print of an item. Default: the item. */
  readonly print?: (item: Item) => unknown;
  readonly json: {
    readonly description: string;
    /** JSON of a new item, for an error. */
    readonly example: string;
    /** Members that `get` prints, and `create` and `update` ignore. */
    readonly ignored: readonly string[];
  };
  /** More flags of `create`, and the settings that they give, under those of `--json`; null: `--json` is required. */
  readonly start?: {
    readonly flags: Readonly<Record<string, JsonSchema>>;
    settings(flags: Members): Members | null;
  };
  /** What `delete` deletes, for the error without `--yes`. Default: `--yes` is not needed. */
  readonly confirm?: (item: Item) => string;
  readonly transfer?: Omit<TransferCommandsInit<Item>, 'command' | 'idArgument' | 'find'>;
}

/** The argument `id` of a command, and the item that it names. */
export interface NamedRecord<Item> {
  readonly idArgument: { readonly name: string; readonly description: string };
  /** @throws Error if there is none */
  find(id: unknown): Promise<Item>;
}

export function namedRecord<Item>({
  command,
  noun,
  store,
}: Pick<RecordCommandsInit<Item & { readonly id: number }>, 'command' | 'noun'> & {
  readonly store: { get(id: number): Promise<Item | null> };
}): NamedRecord<Item> {
  return {
    idArgument: { name: 'id', description: `Id of the ${noun}, see ${command} list.` },
    async find(id) {
      const item = await store.get(parseId(String(id)));
      if (item !== null) return item;
      throw new Error(
        `${noun[0]?.toUpperCase() ?? ''}${noun.slice(1)} ${String(id)} does not exist. See ${command} list.`,
      );
    },
  };
}

/** The commands that list, print, create, change, duplicate, delete and transfer stored settings. */
export function recordCommands<Item extends { readonly id: number }>(init: RecordCommandsInit<Item>): CliCommand[] {
  const { command, store, descriptions, confirm, transfer, print = (item: Item): unknown => item } = init;
  const { idArgument, find } = namedRecord(init);
  return [
    { name: `${command} list`, description: descriptions.list, run: () => init.list() },
    {
      name: `${command} get`,
      description: descriptions.get,
      args: [idArgument],
      run: async ({ args: [id] }) => print(await find(id)),
    },
    ...writingCommands(init, find),
    {
      name: `${command} duplicate`,
      description: descriptions.duplicate,
      args: [idArgument],
      run: async ({ args: [id] }) => print(await store.duplicate((await find(id)).id)),
    },
    {
      name: `${command} delete`,
      description: descriptions.delete,
      args: [idArgument],
      ...(confirm && { flags: { yes: { type: 'boolean', description: 'Confirm the deletion.' } } }),
      run: async ({ args: [id], flags }) => {
        const item = await find(id);
        if (confirm && flags['yes'] !== true)
          throw new Error(`Nothing was deleted. Add --yes to delete ${confirm(item)}.`);
        return { id: item.id, deleted: await store.delete(item.id) };
      },
    },
    ...(transfer ? transferCommands({ ...transfer, command, idArgument, find }) : []),
  ];
}

function writingCommands<Item extends { readonly id: number }>(
  { command, noun, store, descriptions, json, start, print = (item) => item }: RecordCommandsInit<Item>,
  find: (id: unknown) => Promise<Item>,
): CliCommand[] {
  const jsonFlag = { json: { type: 'object', description: json.description } } as const;
  const settingsFrom = (given: unknown, action: 'create' | 'update'): Members => {
    if (isRecord(given))
      return Object.fromEntries(Object.entries(given).filter(([name]) => !json.ignored.includes(name)));
    const example = action === 'create' ? json.example : json.example.replace('{', '{"id": 1, ');
    throw new Error(`Write the ${noun} as JSON, for example: ${command} ${action} --json '${example}'`);
  };
  return [
    {
      name: `${command} create`,
      description: descriptions.create,
      flags: { ...jsonFlag, ...start?.flags },
      run: async ({ flags }) => {
        const first = start?.settings(flags) ?? null;
        const { id, ...settings } = first && flags['json'] === undefined ? {} : settingsFrom(flags['json'], 'create');
        if (id !== undefined)
          throw new Error(`A new ${noun} gets its id automatically. To change a ${noun}, use ${command} update.`);
        return print(await store.create({ ...first, ...settings }));
      },
    },
    {
      name: `${command} update`,
      description: descriptions.update,
      flags: jsonFlag,
      run: async ({ flags }) => {
        const { id, ...changes } = settingsFrom(flags['json'], 'update');
        if (id === undefined) throw new Error(`Add the "id" of the ${noun} to the object. See ${command} list.`);
        return print(await store.update((await find(id)).id, changes));
      },
    },
  ];
}
