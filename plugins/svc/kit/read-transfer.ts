import { isRecord, invalidFields } from '#plugin-api';

/** A kind of file that transfers settings to another site: `{format, version, <list>: [...]}`. */
export interface TransferKind {
  /** Identifies its files, for example `svc-chatbots`. */
  readonly format: string;
  /** The version that is written and read. */
  readonly version: number;
  /** The member with the settings, for example `bots`. */
  readonly list: string;
  /** Plural name of the items. */
  readonly noun: string;
  /** Name of the export, if it is not `noun`. */
  readonly title?: string;
}

/** Maximum number of items in one file. */
const maxItems = 200;

export interface Transfer<Item, Settings> {
  /** JSON for another site or a backup: no ids, no secrets, nothing about the site. */
  exportItems(items: readonly Item[]): { readonly [list: string]: string | number | readonly Settings[] };
  /**
   * Creates the items of an export: all of them, or none if one is invalid.
   *
   * @throws RestError 400 `rest_invalid_param`, every invalid member by its path (`bots[1].embed.allowed_domains[0]`)
   */
  importItems(
    text: string,
    store: { createAll(list: readonly unknown[]): Promise<readonly Item[]> },
  ): Promise<readonly Item[]>;
}

/** @param toSettings returns what is exported of an item */
export function defineTransfer<Item, Settings>(
  kind: TransferKind,
  toSettings: (item: Item) => Settings,
): Transfer<Item, Settings> {
  const { format, version, list } = kind;
  return {
    exportItems: (items) => ({ format, version, [list]: items.map((item) => toSettings(item)) }),
    importItems: async (text, store) => store.createAll(readTransfer(text, kind)),
  };
}

/**
 * Reads the settings of a file without checking them: 1 to 200 items.
 *
 * @param text JSON, with or without a byte order mark
 * @throws RestError 400 `rest_invalid_param` for invalid JSON, another kind of file, another version, no items or too many
 */
export function readTransfer(
  text: string,
  { format, version, list, noun, title = noun }: TransferKind,
): readonly unknown[] {
  let transfer: unknown;
  try {
    transfer = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    throw invalidFields({ file: 'The file is not JSON. Choose a file from an export.' });
  }
  if (!isRecord(transfer) || transfer['format'] !== format)
    throw invalidFields({ format: `The file is not an export of ${title}. Its format must be ${format}.` });
  if (transfer['version'] !== version)
    throw invalidFields({
      version: `The file has version ${JSON.stringify(transfer['version'] ?? null)}. Only version ${String(version)} can be imported.`,
    });
  const settings = transfer[list];
  if (!Array.isArray(settings) || settings.length === 0 || settings.length > maxItems)
    throw invalidFields({ [list]: `${list} must contain 1 to ${String(maxItems)} ${noun}.` });
  return settings;
}
