import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { CliCommand } from '#plugin-api';
import type { Transfer } from './read-transfer.ts';

export interface TransferCommandsInit<Item> {
  /** The commands without `export` and `import`, for example `svc bot`. */
  readonly command: string;
  readonly descriptions: { readonly export: string; readonly import: string };
  readonly idArgument: { readonly name: string; readonly description: string };
  /** @throws Error if there is no such item */
  find(id: string): Promise<Item>;
  /** What is exported without ids. */
  list(): Promise<readonly Item[]>;
  readonly transfer: Transfer<Item, unknown>;
  readonly store: { createAll(list: readonly unknown[]): Promise<readonly Item[]> };
  /** What is printed about an imported item. */
  print(item: Item): unknown;
}

/** The commands that transfer items to another site. */
export function transferCommands<Item>(init: TransferCommandsInit<Item>): CliCommand[] {
  return [
    {
      name: `${init.command} export`,
      description: init.descriptions.export,
      args: [{ ...init.idArgument, optional: true, rest: true }],
      // An export is always JSON.
      flags: { json: { type: 'boolean', description: 'Print JSON.' } },
      run: async ({ args, flags }) => {
        const chosen: Item[] = [];
        for (const id of args) chosen.push(await init.find(id));
        const transfer = init.transfer.exportItems(args.length === 0 ? await init.list() : chosen);
        return flags['json'] === true ? transfer : JSON.stringify(transfer, null, 2);
      },
    },
    {
      name: `${init.command} import`,
      description: init.descriptions.import,
      args: [{ name: 'file', description: `File from ${init.command} export, or - for standard input.` }],
      run: async ({ args: [file = '-'] }) =>
        (await init.transfer.importItems((await readInput(file)).toString('utf8'), init.store)).map((item) =>
          init.print(item),
        ),
    },
  ];
}

/** @param file its path, or `-` for standard input. @throws Error if it cannot be read */
export async function readInput(file: string): Promise<Buffer> {
  if (file === '-') return buffer(process.stdin);
  try {
    return await readFile(file);
  } catch (error) {
    throw new Error(`The file ${file} cannot be read.`, { cause: error });
  }
}
