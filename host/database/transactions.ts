import { AsyncLocalStorage } from 'node:async_hooks';
import type { Knex, Logger } from '#plugin-api';

interface Running {
  readonly transaction: Knex.Transaction;
  /** The same object for a transaction and those nested in it. */
  readonly identity: object;
  readonly callbacks: (() => void)[];
}

export interface Transactions {
  /** `root`, or the current transaction, resolved on each use. */
  readonly knex: Knex;
  run<Result>(
    work: (transaction: Knex.Transaction) => Promise<Result>,
    settings?: Knex.TransactionConfig,
  ): Promise<Result>;
  current(): object | null;
  /** The innermost transaction in progress. */
  running(): Knex.Transaction | null;
  afterCommit(callback: () => void): void;
}

/**
 * Transactions propagated through the asynchronous context: everything called inside takes part. Work that outlives its
 * transaction (started inside and not awaited) uses the plain connection.
 *
 * @param root called on each use, because dialects are created after this.
 */
export function createTransactions(root: () => Knex, log: Logger): Transactions {
  const storage = new AsyncLocalStorage<Running>();

  function running(): Running | null {
    const found = storage.getStore();
    return found === undefined || found.transaction.isCompleted() ? null : found;
  }

  async function run<Result>(
    work: (transaction: Knex.Transaction) => Promise<Result>,
    settings?: Knex.TransactionConfig,
  ): Promise<Result> {
    const outer = running();
    const callbacks: (() => void)[] = [];
    const begin = outer?.transaction ?? root();
    const result = await begin.transaction(
      (transaction) =>
        storage.run({ transaction, identity: outer?.identity ?? transaction, callbacks }, () => work(transaction)),
      settings,
    );
    if (outer === null) for (const callback of callbacks) runSafely(callback);
    else outer.callbacks.push(...callbacks);
    return result as Result;
  }

  function runSafely(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      log.error('Callback after a commit failed', { event: 'after_commit_failed', error });
    }
  }

  return {
    knex: createKnexProxy(() => running()?.transaction ?? root()),
    run,
    current: () => running()?.identity ?? null,
    running: () => running()?.transaction ?? null,
    afterCommit(callback) {
      const inside = running();
      if (inside === null) runSafely(callback);
      else inside.callbacks.push(callback);
    },
  };
}

/** A proxy for the knex instance that `find` returns on each use. */
function createKnexProxy(find: () => Knex): Knex {
  return new Proxy((() => {}) as unknown as Knex, {
    apply: (_target, _self, args) =>
      Reflect.apply(find() as unknown as (...args: unknown[]) => unknown, undefined, args),
    get: (_target, member) => Reflect.get(find(), member) as unknown,
    has: (_target, member) => Reflect.has(find(), member),
  });
}
