import type { Fault } from './fault-injection.ts';

export interface SeenRequest {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly method: string;
  /** Without the query, which may hold a key; at most 200 characters. */
  readonly path: string;
  readonly provider: string | null;
  readonly status: number;
  readonly fault: Fault;
}

export interface Recent {
  /** @param request `target` is path and query as they came. */
  add(request: Omit<SeenRequest, 'path'> & { readonly target: string }): void;
  /** Newest first. */
  list(): readonly SeenRequest[];
}

/** Remembers the last requests of this process, in memory alone. */
export function createRecent(limit: number): Recent {
  const seen: SeenRequest[] = [];
  return {
    add: ({ target, at, method, provider, status, fault }) => {
      seen.unshift({ at, method, path: (target.split('?')[0] ?? '').slice(0, 200), provider, status, fault });
      seen.length = Math.min(seen.length, limit);
    },
    list: () => [...seen],
  };
}
