import { isMembers } from '../kit/settings-schema/fill.ts';
import { invalidFields } from '../kit/field-errors.ts';

/** A kind of file that carries settings to another site: `{format, version, <list>: [...]}`. */
export interface TransferKind {
  /** Marks its files, `svc-chatbots`. */
  readonly format: string;
  /** The one version that is written and read. */
  readonly version: number;
  /** The member that holds the settings, `bots`. */
  readonly list: string;
  /** What the settings are of, in the plural. */
  readonly noun: string;
  /** What a file is an export of, where that is not `noun`. */
  readonly title?: string;
}

/** Settings in one file. */
const most = 200;

/**
 * The settings that a file holds, unchecked: 1 to 200 of them.
 *
 * @param text JSON, with a byte order mark or without
 * @throws RestError 400 `rest_invalid_param`: it is no JSON, another kind of file, another version, or holds none or too many
 */
export function readTransfer(
  text: string,
  { format, version, list, noun, title = noun }: TransferKind,
): readonly unknown[] {
  let transfer: unknown;
  try {
    transfer = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    throw invalidFields({ file: 'The file is not JSON.' });
  }
  if (!isMembers(transfer) || transfer['format'] !== format)
    throw invalidFields({ format: `The file is no export of ${title}: its format is not ${format}.` });
  if (transfer['version'] !== version)
    throw invalidFields({
      version: `The file has version ${JSON.stringify(transfer['version'] ?? null)}; version ${String(version)} can be read here.`,
    });
  const settings = transfer[list];
  if (!Array.isArray(settings) || settings.length === 0 || settings.length > most)
    throw invalidFields({ [list]: `${list} must be a list of 1 to ${String(most)} ${noun}.` });
  return settings;
}
