import { hash } from 'node:crypto';
import type { KeyScopes } from '../../kit/caller.ts';

/** A named key (D31), without its secret. Times in milliseconds since the epoch. */
export interface NamedKey {
  readonly id: number;
  readonly name: string;
  /** The first characters of the secret. */
  readonly prefix: string;
  readonly scopes: KeyScopes;
  /** 0: no limit. */
  readonly requestsPerMinute: number;
  /** Whether what a model lacks is left out of requests to the routes in the formats of vendors, instead of refused (D41). */
  readonly isLenient: boolean;
  /** Null: never. */
  readonly expiresAt: number | null;
  readonly createdAt: number;
  /** Id of the user; 0: the command line. */
  readonly createdBy: number;
  /** Written at most once a minute; null: never used. */
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
  /** Until when the secret before the last rotation works; null without one. */
  readonly oldUntil: number | null;
}

export type KeyState = 'active' | 'expiring' | 'expired' | 'revoked';

/** Milliseconds before its end from which a key is shown as expiring. */
const noticeTime = 14 * 24 * 3600_000;

export function keyState({ revokedAt, expiresAt }: Pick<NamedKey, 'revokedAt' | 'expiresAt'>, now: number): KeyState {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt === null) return 'active';
  return expiresAt <= now ? 'expired' : expiresAt - now <= noticeTime ? 'expiring' : 'active';
}

export function keyDigest(secret: string): string {
  return hash('sha256', secret, 'hex');
}

export type KeyRow = Readonly<Record<string, unknown>>;

/** PostgreSQL returns large numbers as text. */
export function keyOfRow(row: KeyRow): NamedKey {
  const time = (name: string): number | null =>
    row[name] === null || row[name] === undefined ? null : Number(row[name]);
  return {
    id: Number(row['id']),
    name: String(row['name']),
    prefix: String(row['prefix']),
    scopes: JSON.parse(String(row['scopes'])) as KeyScopes,
    requestsPerMinute: Number(row['requests_per_minute']),
    isLenient: Number(row['is_lenient']) === 1,
    expiresAt: time('expires_at'),
    createdAt: Number(row['created_at']),
    createdBy: Number(row['created_by']),
    lastUsedAt: time('last_used_at'),
    revokedAt: time('revoked_at'),
    oldUntil: time('old_until'),
  };
}
