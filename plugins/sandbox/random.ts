import { createHash } from 'node:crypto';

/** A repeatable 64-digit hexadecimal digest of its arguments: the sandbox's only source of chance. */
export function digest(...parts: readonly (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** A repeatable number, 0 included, 1 excluded. */
export function fraction(...parts: readonly (string | number)[]): number {
  return parseInt(digest(...parts).slice(0, 12), 16) / 2 ** 48;
}
