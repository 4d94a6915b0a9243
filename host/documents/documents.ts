import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import {
  currentRequest,
  DocumentError,
  formatWait,
  type Clock,
  type DocumentQueue,
  type DocumentReader,
  type DocumentsApi,
  type Logger,
  type ReadInit,
} from '#plugin-api';
import { threadArguments } from '../database/thread-arguments.ts';
import type { ThreadResult, ThreadTask } from './document-thread.ts';
import { createQueue, type Queue, type QueueLimits } from './queue.ts';

export interface DocumentsDependencies {
  /** Real time, also in tests: a thread does not follow a fake clock. */
  readonly clock: Pick<Clock, 'after' | 'every'>;
  readonly log: Logger;
  /** Per thread, in MiB of the JavaScript heap, and again of the buffers beside it. Default 256. */
  readonly memory?: number;
  /** Milliseconds without a document after which a thread ends. Default one minute. */
  readonly idleTimeout?: number;
}

export interface Documents extends DocumentsApi {
  /** Number of running threads. */
  threads(): number;
  /** Ends all threads. Documents in progress are rejected. */
  close(): Promise<void>;
}

/** Milliseconds between two looks at the memory of a thread. */
const memoryInterval = 100;

/** Milliseconds. */
const defaults = { deadline: 10_000, idleTimeout: 60_000, memory: 256 } as const;

const limits: Readonly<Record<DocumentQueue, QueueLimits>> = {
  visitors: { waiting: 8, wait: 20_000 },
  members: { waiting: 20, wait: 60_000 },
  site: { waiting: 100, wait: 60_000 },
  background: { waiting: 1_000, wait: 3_600_000 },
  estimates: { waiting: 100, wait: 5_000 },
};

/** Documents of one user in the queue `members`: one that is read, and two that wait. */
const maxOfMember = 3;

/** A thread, started by its first document, and the line in front of it. */
interface Lane {
  readonly queue: Queue;
  /** Documents by user. */
  readonly users: Map<number, number>;
  pool: Promise<Piscina> | null;
}

/** Reads documents in worker threads (see DocumentsApi). */
export function createDocuments(dependencies: DocumentsDependencies): Documents {
  const { clock } = dependencies;
  const lanes = new Map<DocumentQueue, Lane>();
  const opened = new Set<Piscina>();
  const closing = new AbortController();

  function laneFor(name: DocumentQueue): Lane {
    const found = lanes.get(name);
    if (found) return found;
    const lane: Lane = { queue: createQueue(limits[name], clock), users: new Map(), pool: null };
    lanes.set(name, lane);
    return lane;
  }

  async function openPoolFor(lane: Lane): Promise<Piscina> {
    lane.pool ??= openPool(dependencies).then((pool) => {
      opened.add(pool);
      return pool;
    });
    return lane.pool;
  }

  async function read(init: ReadInit<DocumentReader>): Promise<unknown> {
    const input = copyBytes(init.input, init.movesBytes === true);
    const signal = AbortSignal.any(init.signal ? [init.signal, closing.signal] : [closing.signal]);
    const { queue = 'site', userId } = init;
    const lane = laneFor(queue);
    const forget = queue === 'members' && userId !== undefined ? countUser(lane.users, userId) : null;
    try {
      const leave = await lane.queue.enter(signal, refuseBusy, callerOf(userId));
      try {
        return await runInThread(await openPoolFor(lane), { init, input, signal }, dependencies);
      } finally {
        leave();
      }
    } finally {
      forget?.();
    }
  }

  return {
    read: <Reader extends DocumentReader>(init: ReadInit<Reader>) => read(init) as Promise<Awaited<ReturnType<Reader>>>,
    threads: () => [...opened].reduce((count, pool) => count + pool.threads.length, 0),
    async close() {
      closing.abort(new Error('The document was not read because the host is stopping.'));
      await Promise.all([...opened].map((pool) => pool.destroy()));
    },
  };
}

/** A user, else the address of a visitor; empty for jobs and commands. */
function callerOf(userId = currentRequest()?.userId ?? 0): string {
  return userId > 0 ? String(userId) : (currentRequest()?.ip ?? '');
}

/** Counts a document of a user until it is forgotten. @throws DocumentError for too many */
function countUser(users: Map<number, number>, userId: number): () => void {
  const count = (users.get(userId) ?? 0) + 1;
  if (count > maxOfMember) throw refuseBusy();
  users.set(userId, count);
  return () => {
    const left = (users.get(userId) ?? 1) - 1;
    if (left === 0) users.delete(userId);
    else users.set(userId, left);
  };
}

function refuseBusy(): DocumentError {
  return new DocumentError('Too many files are being read at the moment. Try again in a minute.', 'busy');
}

/** The module of the threads. */
const threadModule = new URL('./document-thread.ts', import.meta.url);

async function openPool({ log, memory = defaults.memory, idleTimeout }: DocumentsDependencies): Promise<Piscina> {
  const { Piscina } = await import('piscina');
  const pool = new Piscina({
    filename: threadModule.href,
    name: 'runReader',
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: idleTimeout ?? defaults.idleTimeout,
    execArgv: threadArguments,
    // Nothing of the environment: it holds the site's secrets, and a reader needs none.
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: memory, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
    // A waiting thread must let its timers and closing ports go on.
    atomics: 'disabled',
  });
  pool.on('error', (error: unknown) => log.warn('Document thread failed', { event: 'document_thread_failed', error }));
  return pool;
}

interface Running {
  readonly init: ReadInit<DocumentReader>;
  readonly input: CopiedInput;
  readonly signal: AbortSignal;
}

async function runInThread(
  pool: Piscina,
  { init, input, signal }: Running,
  { clock, log, memory = defaults.memory }: DocumentsDependencies,
): Promise<unknown> {
  const { module, reader, deadline = defaults.deadline, onProgress } = init;
  const late = new AbortController();
  const large = new AbortController();
  const undos = [
    clock.after(deadline, () => late.abort()),
    // Buffers, such as what a PDF inflates to, are outside the heap, where the thread's own limit does not count them.
    clock.every(memoryInterval, () => void abortAbove(memory * 1_048_576, pool, large)),
  ];
  const channel = onProgress ? new MessageChannel() : null;
  channel?.port1.on('message', (progress) => onProgress?.(progress as never));
  const task: ThreadTask = { module: module.href, reader, input: input.value, progress: channel?.port2 ?? null };
  const refuse = (error: DocumentError): DocumentError => {
    log.warn('Reading a document stopped', { event: 'document_read_stopped', reader, code: error.code, deadline });
    return error;
  };
  try {
    const result = (await pool.run(task, {
      signal: AbortSignal.any([signal, late.signal, large.signal]),
      transferList: channel ? [...input.moved, channel.port2] : [...input.moved],
    })) as ThreadResult;
    // What was sent before the result may not have been delivered yet.
    while (channel) {
      const sent = receiveMessageOnPort(channel.port1) as { readonly message: never } | undefined;
      if (sent === undefined) break;
      onProgress?.(sent.message);
    }
    if ('value' in result) return result.value;
    throw new DocumentError(result.refusal.message, result.refusal.code);
  } catch (error) {
    if (error instanceof DocumentError) throw error;
    signal.throwIfAborted();
    if (late.signal.aborted) throw refuse(timeoutError(deadline));
    if (large.signal.aborted || (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY')
      throw refuse(memoryError());
    throw error;
  } finally {
    for (const undo of undos) undo();
    channel?.port1.close();
  }
}

/** A thread that has just ended has no statistics. */
async function abortAbove(bytes: number, { threads }: Piscina, large: AbortController): Promise<void> {
  const [statistics] = await Promise.all(threads.map((thread) => thread.getHeapStatistics())).catch(() => []);
  if (statistics !== undefined && statistics.external_memory > bytes) large.abort();
}

function timeoutError(deadline: number): DocumentError {
  return new DocumentError(
    `The file could not be read within ${formatWait(deadline)}. Choose a smaller or simpler one.`,
    'timeout',
  );
}

function memoryError(): DocumentError {
  return new DocumentError('The file needs too much memory to be read. Choose a smaller or simpler one.', 'too_large');
}

interface CopiedInput {
  readonly value: unknown;
  /** Buffers that belong to the thread from now on. */
  readonly moved: readonly ArrayBuffer[];
}

/** Copies or moves the bytes in an input, so that the thread gets neither more nor less than them. */
function copyBytes(input: unknown, isMoved: boolean): CopiedInput {
  if (typeof input !== 'object' || input === null) return { value: input, moved: [] };
  const moved: ArrayBuffer[] = [];
  const take = (value: unknown): unknown => {
    if (!(value instanceof Uint8Array)) return value;
    const bytes = (isMoved ? moveBytes(value) : null) ?? new Uint8Array(value);
    moved.push(bytes.buffer);
    return bytes;
  };
  const value = Object.fromEntries(Object.entries(input).map(([name, member]) => [name, take(member)]));
  return { value, moved };
}

/** Null: the bytes share their memory with others. */
function moveBytes({ buffer, byteLength }: Uint8Array): Uint8Array<ArrayBuffer> | null {
  if (!(buffer instanceof ArrayBuffer) || buffer.byteLength !== byteLength) return null;
  try {
    return new Uint8Array(structuredClone(buffer, { transfer: [buffer] }));
  } catch {
    // Node marks some buffers as not movable.
    return null;
  }
}
