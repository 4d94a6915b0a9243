import { formatError } from './qdrant-reply.ts';

/** Ids as they are stored: integers first, in their order, then UUIDs in theirs. */
export function storedId(id: unknown): string {
  if (typeof id === 'number' && Number.isSafeInteger(id) && id >= 0) return `n${String(id).padStart(20, '0')}`;
  const hex =
    typeof id === 'string'
      ? id
          .replace(/^urn:uuid:/i, '')
          .replace(/[-{}]/g, '')
          .toLowerCase()
      : '';
  if (/^[0-9a-f]{32}$/.test(hex)) return `u${hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')}`;
  throw formatError(
    `value ${typeof id === 'string' ? id : JSON.stringify(id)} is not a valid point ID, valid values are ` +
      `either an unsigned integer or a UUID`,
  );
}

export function givenId(stored: string): number | string {
  return stored.startsWith('n') ? Number(stored.slice(1)) : stored.slice(1);
}
