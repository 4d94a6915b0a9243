import type { HostApi } from '#plugin-api';

/** Database channel that carries the ids of endpoints with new jobs. */
export const wakeChannel = 'svc_webhooks';
/** Milliseconds between two notifications while this node works the queue too. */
const notifyInterval = 50;
/** Longer payloads are replaced by "any endpoint": PostgreSQL allows 8,000 bytes. */
const maxPayload = 7_000;

export interface NodeWakerParts {
  readonly host: Pick<HostApi, 'database' | 'log' | 'clock'>;
  /** Id of this process: it ignores its own notifications. */
  readonly owner: string;
  readonly worker: { wake(ids?: readonly string[]): void };
  readonly elapsed: () => number;
}

/** Wakes the worker of this process directly and those of other nodes through the database. No ids mean any endpoint. */
export interface NodeWaker {
  /** Whether this process works the queue. */
  setActive(isActive: boolean): void;
  /** Handles a notification. Returns its endpoint ids (none: any endpoint), or null if this process sent it. */
  receive(payload: string): readonly string[] | null;
  /** New jobs: wakes this process, and other nodes if they can help. */
  wake(ids?: readonly string[]): void;
  /** Work that this node leaves to others. */
  notifyOthers(ids: readonly string[]): void;
  /** A change that every node has to know. */
  wakeAllNodes(ids: readonly string[]): void;
}

export function createNodeWaker({ host, owner, worker, elapsed }: NodeWakerParts): NodeWaker {
  let isActive = false;
  let waiting: { readonly ids: Set<string>; any: boolean } | null = null;
  let lastSent = -Infinity;

  /** With SQLite, all nodes run on one machine and the worker of this process is enough. */
  const canOthersHelp = (): boolean => !isActive || host.database.dialect !== 'sqlite';

  /** Combines the emits of a moment into one notification. */
  function notify(ids?: readonly string[]): void {
    const isFirst = waiting === null;
    waiting ??= { ids: new Set(), any: false };
    if (ids === undefined) waiting.any = true;
    else for (const id of ids) waiting.ids.add(id);
    if (!isFirst) return;
    if (!isActive && elapsed() - lastSent > notifyInterval) send();
    else host.clock.after(notifyInterval, send);
  }

  function send(): void {
    const ids = waiting === null || waiting.any ? [] : [...waiting.ids];
    const payload = [owner, ...ids].join(' ');
    waiting = null;
    lastSent = elapsed();
    host.database.notify(wakeChannel, payload.length > maxPayload ? owner : payload).catch((error: unknown) => {
      host.log.warn('Failed to notify other nodes of webhook deliveries; they poll every five minutes', {
        event: 'webhook_notify_failed',
        error,
      });
    });
  }

  return {
    setActive: (next) => void (isActive = next),
    receive(payload) {
      const [from, ...ids] = payload.split(' ');
      if (from === owner) return null;
      worker.wake(ids.length === 0 ? undefined : ids);
      return ids;
    },
    wake(ids) {
      worker.wake(ids);
      if (canOthersHelp()) notify(ids);
    },
    notifyOthers: notify,
    wakeAllNodes(ids) {
      worker.wake(ids);
      notify(ids);
    },
  };
}
