import type { SHARE_ENV } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import { markConnectionError } from '../outages.ts';
import { threadArguments } from '../thread-arguments.ts';

/** Long SELECTs that run at once; others wait. */
const threads = 2;
/** Milliseconds without a SELECT after which a thread ends. */
const idleTimeout = 60_000;

/** Errors of a driver lose their class and message on the way between threads. */
export type ReadResult =
  Float64Array | { readonly message: string; readonly code: string | undefined; readonly isConnection: boolean };

export interface ReaderThreads {
  /** Calls an exported function of the module in a thread. @throws the error of the driver, with its code */
  run(name: string, task: object, signal?: AbortSignal): Promise<Float64Array>;
  /** Ends the threads. SELECTs in progress are rejected. */
  close(): Promise<void>;
}

type ThreadEnvironment = typeof SHARE_ENV | NodeJS.ProcessEnv;

/**
 * Worker threads that read a database, which start with the first SELECT.
 *
 * @param environment what they see of it
 */
export function createReaderThreads(module: URL, environment: ThreadEnvironment = {}): ReaderThreads {
  let pool: Promise<Piscina> | null = null;
  let isClosed = false;
  return {
    async run(name, task, signal) {
      if (isClosed) throw new Error('The database is closed.');
      signal?.throwIfAborted();
      const result = (await (
        await (pool ??= openPool(module, environment))
      ).run(task, { name, ...(signal && { signal }) })) as ReadResult;
      if (result instanceof Float64Array) return result;
      const { message, code, isConnection } = result;
      const error = Object.assign(new Error(message), code !== undefined && { code });
      if (isConnection) markConnectionError(error);
      throw error;
    },
    async close() {
      isClosed = true;
      await (await pool)?.destroy();
    },
  };
}

async function openPool(module: URL, env: ThreadEnvironment): Promise<Piscina> {
  const { Piscina } = await import('piscina');
  return new Piscina({
    filename: module.href,
    name: 'readNumbers',
    minThreads: 0,
    maxThreads: threads,
    idleTimeout,
    execArgv: threadArguments,
    env,
  });
}
