import type { Clock, CronApi, DatabaseApi, HooksApi, Logger, MailApi } from '#plugin-api';
import type { CheckedMessage } from './check-message.ts';
import type { MailClaim, MailStore } from './mail-store.ts';

/** Cron event with the id of a mail that is not sent yet. */
export const retryHook = 'mail_retry';

export interface MailQueueDependencies {
  readonly store: MailStore;
  readonly send: MailApi['send'];
  readonly database: Pick<DatabaseApi, 'transaction' | 'afterCommit'>;
  readonly hooks: Pick<HooksApi, 'addAction'>;
  readonly cron: Pick<CronApi, 'scheduleSingle' | 'unschedule'>;
  readonly clock: Pick<Clock, 'now'>;
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

/**
 * Sends stored mails. The cron event of the next attempt is stored before each attempt begins, so no mail is lost when a node
 * stops.
 */
export function createMailQueue(dependencies: MailQueueDependencies): MailQueue {
  const { store, database, hooks, cron, log } = dependencies;
  const inFlight = new Set<Promise<void>>();
  const deliver = createDelivery(dependencies);

  function start(id: string): void {
    const attempt = deliver(id)
      .catch((error: unknown) => log.error('Mail delivery failed', { event: 'mail_delivery_failed', mail: id, error }))
      .finally(() => inFlight.delete(attempt));
    inFlight.add(attempt);
  }

  // The key of held mail may be back.
  hooks.addAction('host_started', async () => {
    for (const id of await store.releaseHeld()) start(id);
  });
  hooks.addAction(retryHook, async (id: unknown) => {
    if (typeof id === 'string') await deliver(id);
  });
  return {
    add: (message, expiresAt) =>
      database.transaction(async () => {
        const id = await store.insert(message, expiresAt);
        await cron.scheduleSingle(store.firstRetryAt(), retryHook, [id]);
        database.afterCommit(() => start(id));
      }),
    retry: (id) =>
      database.transaction(async () => {
        if (!(await store.retry(id))) return false;
        await cron.scheduleSingle(store.firstRetryAt(), retryHook, [id]);
        database.afterCommit(() => start(id));
        return true;
      }),
    remove: (id) =>
      database.transaction(async () => {
        await cron.unschedule(retryHook, [id]);
        return store.remove(id);
      }),
    async settled() {
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
  };
}

function createDelivery({ store, send, database, cron, log }: MailQueueDependencies): (id: string) => Promise<void> {
  const claim = (id: string): Promise<MailClaim | null> =>
    database.transaction(async () => {
      const claimed = await store.claim(id);
      if (claimed?.nextAttemptAt) await cron.scheduleSingle(claimed.nextAttemptAt, retryHook, [id]);
      return claimed;
    });

  async function giveUp(claimed: MailClaim, reason: string): Promise<void> {
    const { id, attempt } = claimed;
    await store.fail(claimed, reason);
    await cron.unschedule(retryHook, [id]);
    log.error('Mail given up', { event: 'mail_given_up', mail: id, attempt, reason });
  }

  return async (id) => {
    const claimed = await claim(id);
    if (claimed === null) return;
    const { attempt, nextAttemptAt, message } = claimed;
    if (claimed.isExpired)
      return giveUp(
        claimed,
        message === null
          ? 'The secret key that encrypted this mail was missing until it expired. Its text is lost.'
          : 'The link in the mail expired before the mail could be sent.',
      );
    if (message === null) {
      log.error('Mail held: its secret key is missing', { event: 'mail_held', mail: id });
      return;
    }
    try {
      await send(message);
    } catch (error) {
      const { code, message: reason } = error as { readonly code?: string; readonly message: string };
      if (code === 'mail_rejected' || code === 'mail_invalid' || nextAttemptAt === null) return giveUp(claimed, reason);
      await store.recordError(id, reason);
      log.warn('Mail not sent yet', { event: 'mail_attempt_failed', mail: id, attempt, code, reason });
      return;
    }
    await store.remove(id);
    await cron.unschedule(retryHook, [id]);
    log.info('Mail sent', { event: 'mail_sent', mail: id, attempt });
  };
}
