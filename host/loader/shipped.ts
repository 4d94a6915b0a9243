import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const shipped = fileURLToPath(new URL('../../plugins', import.meta.url));

/** Whether a plugin's folder is one that comes with the host. */
export function isShipped(directory: string): boolean {
  return directory.startsWith(shipped + sep);
}
