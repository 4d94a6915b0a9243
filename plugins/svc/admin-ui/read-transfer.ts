import { isRecord } from '#plugin-api';
import { invalidFields } from '../kit/field-errors.ts';

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
