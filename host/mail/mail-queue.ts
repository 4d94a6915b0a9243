import type { DatabaseApi, HooksApi, JobsApi, Logger, MailReceipt, RunningJob } from '#plugin-api';
import type { CheckedMessage } from './check-message.ts';
import { heldReason, type MailStore } from './mail-store.ts';

export interface MailQueueDependencies {
  readonly store: MailStore;
  /** Sends a mail until the signal is aborted. */
  readonly send: (message: CheckedMessage, signal: AbortSignal) => Promise<MailReceipt>;
  readonly database: Pick<DatabaseApi, 'transaction' | 'afterCommit'>;
  readonly hooks: Pick<HooksApi, 'addAction'>;
  readonly jobs: Pick<JobsApi, 'define' | 'start' | 'addMany' | 'cancel'>;
  readonly log: Logger;
}

export interface MailQueue {
  /** Stores a mail and starts its first attempt. @param expiresAt milliseconds since the epoch; null: never. */
  add(message: CheckedMessage, expiresAt: number | null): Promise<void>;
  /** Starts a failed mail over. Returns false if it is not failed, is gone or has expired. */
  retry(id: string): Promise<boolean>;
  /** Deletes an unsent mail. Returns whether it existed. */
  remove(id: string): Promise<boolean>;
  /** Waits for the attempts of this process that are in progress. */
  settled(): Promise<void>;
}

// A type and not an interface: only a type is a JsonValue.
type MailArgs = { readonly id: string };

/** The job that sends one mail; its key is the id of the mail. */
export const mailJob = 'mail';

/** Milliseconds between two looks for the key that encrypted a mail. */
const heldDelay = 3_600_000;

/**
 * Sends stored mails as jobs. This process makes the first attempt, so that mail of commands and web nodes is sent at once;
 * later ones run on any node with jobs.
 */
export function createMailQueue(dependencies: MailQueueDependencies): MailQueue {
  const { store, database, hooks, jobs } = dependencies;
  const inFlight = new Set<Promise<unknown>>();
  const attempt = createAttempt(dependencies);

  function track<Result>(work: Promise<Result>): Promise<Result> {
    const end: Promise<unknown> = work.catch(() => undefined).finally(() => inFlight.delete(end));
    inFlight.add(end);
    return work;
  }
  async function start(id: string): Promise<void> {
    const started = await jobs.start(mailJob, { id }, { key: id });
    if (!started.isStarted) return;
    database.afterCommit(() => {
      // The jobs have stored and logged its error.
      track(started.run((job) => track(attempt(id, job)))).catch(() => undefined);
    });
  }

  defineJob(dependencies, (id, job) => track(attempt(id, job)));
  // The key of held mail may be back.
  hooks.addAction('host_started', async () => {
    const held = await store.releaseHeld();
    if (held.length > 0)
      await jobs.addMany(
        mailJob,
        held.map((id) => ({ args: { id }, key: id, whenWaiting: 'replace' })),
      );
  });
  return {
    add: (message, expiresAt) => database.transaction(async () => start(await store.insert(message, expiresAt))),
    retry: (id) =>
      database.transaction(async () => {
        if (!(await store.retry(id))) return false;
        await start(id);
        return true;
      }),
    remove: (id) =>
      database.transaction(async () => {
        await jobs.cancel({ name: mailJob, key: id });
        return store.remove(id);
      }),
    async settled() {
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
  };
}

type Attempt = (id: string, job: RunningJob) => Promise<void>;

function defineJob({ jobs, store, log }: MailQueueDependencies, attempt: Attempt): void {
  jobs.define<MailArgs>({
    name: mailJob,
    label: 'Mail',
    // The store counts them: a look for the secret key uses up none.
    attempts: () => Infinity,
    // Of errors that do not name their delay.
    backoff: [60],
    concurrency: 4,
    // Longer than an SMTP attempt: a plugin may deliver the mail instead.
    timeout: 120,
    run: ({ id }, job) => attempt(id, job),
    async failed({ id }, { message: reason }) {
      const attempts = await store.fail(id, reason);
      if (attempts === null) return;
      log.error('Mail given up', { event: 'mail_given_up', mail: id, attempt: attempts, reason });
    },
    postponed: ({ id }, { message, wait }) => store.postpone(id, { wait, reason: message }),
  });
}

function createAttempt({ store, send, log }: MailQueueDependencies): Attempt {
  return async (id, job) => {
    const begun = await store.begin(id);
    if (begun === null) return;
    const { message, attempt, retryDelay } = begun;
    if (begun.refusal !== null) throw refusal(begun.refusal);
    if (message === null) {
      log.error('Mail held: its secret key is missing', { event: 'mail_held', mail: id });
      throw retryAfter(heldDelay, heldReason);
    }
    try {
      await send(message, job.signal);
    } catch (error) {
      if (job.signal.aborted) throw error;
      const { code, message: reason } = error as { readonly code?: string; readonly message: string };
      if (code === 'mail_rejected' || code === 'mail_invalid' || retryDelay === null) throw refusal(reason);
      log.warn('Mail not sent yet', { event: 'mail_attempt_failed', mail: id, attempt, code, reason });
      throw retryAfter(retryDelay, reason);
    }
    await job.commit(async () => {
      await store.remove(id);
    });
    log.info('Mail sent', { event: 'mail_sent', mail: id, attempt });
  };
}

/** An error after which the job fails for good. */
function refusal(reason: string): Error {
  return Object.assign(new Error(reason), { retryable: false });
}

/** An error after which the job waits. @param wait milliseconds */
function retryAfter(wait: number, reason: string): Error {
  return Object.assign(new Error(reason), { retryable: true, headers: { 'retry-after': wait / 1000 } });
}
