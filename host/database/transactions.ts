import { AsyncLocalStorage } from 'node:async_hooks';
import type { Knex, Logger } from '#plugin-api';

interface Running {
  readonly transaction: Knex.Transaction;
  /** The same object for a transaction and those nested in it. */
  readonly identity: object;
  readonly callbacks: (() => void)[];
}

export interface Transactions {
  /** `root`, or the running transaction: looked up at each use. */
  readonly knex: Knex;
  run<Result>(
    work: (transaction: Knex.Transaction) => Promise<Result>,
    settings?: Knex.TransactionConfig,
  ): Promise<Result>;
  current(): object | null;
  /** The innermost running transaction. */
  running(): Knex.Transaction | null;
  afterCommit(callback: () => void): void;
}

/**
 * Transactions that everything called inside them takes part in, found through the asynchronous context.
 * Work that outlives its transaction (started inside and not awaited) falls back to the plain connection.
 *
 * @param root asked at each use, because dialects are made after this.
 */
export function createTransactions(root: () => Knex, log: Logger): Transactions {
  const storage = new AsyncLocalStorage<Running>();
  let underWay = 0;

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
    const result = await counted(() =>
      begin.transaction(
        (transaction) =>
          storage.run({ transaction, identity: outer?.identity ?? transaction, callbacks }, () => work(transaction)),
        settings,
      ),
    );
    if (outer === null) for (const callback of callbacks) runSafely(callback);
    else outer.callbacks.push(...callbacks);
    return result as Result;
  }

  /** A storage that is on slows every promise of the process, so it is switched off when no transaction is left to be found. */
  async function counted<Result>(transaction: () => Promise<Result>): Promise<Result> {
    underWay += 1;
    try {
      return await transaction();
    } finally {
      underWay -= 1;
      if (underWay === 0) storage.disable();
    }
  }

  function runSafely(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      log.error('A callback after a commit failed.', { error });
    }
  }

  return {
    knex: joining(() => running()?.transaction ?? root()),
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

/** A knex that is at each use the one `find` answers. */
function joining(find: () => Knex): Knex {
  return new Proxy((() => {}) as unknown as Knex, {
    apply: (_target, _self, args) =>
      Reflect.apply(find() as unknown as (...args: unknown[]) => unknown, undefined, args),
    get: (_target, member) => Reflect.get(find(), member) as unknown,
    has: (_target, member) => Reflect.has(find(), member),
  });
}
