import { realpathSync } from 'node:fs';
import { sep } from 'node:path';

/**
 * Whether a file is in a folder also where links lead: a plugin must not serve or read, through a symbolic link, what is not its
 * own. False for a file that does not exist.
 *
 * @param path absolute.
 * @param folder absolute; it may be a link itself.
 */
export function isInsideFolder(path: string, folder: string): boolean {
  try {
    return realpathSync.native(path).startsWith(realpathSync.native(folder) + sep);
  } catch {
    return false;
  }
}
