import { randomUUID } from 'node:crypto';
import type { HostApi } from '#plugin-api';
import type { EventDefinition } from '../kit/define-event.ts';
import { createSecretReader } from '../settings/secret-reader.ts';
import { createAdministration } from './administration.ts';
import { createAttempt, type Attempted } from './attempt.ts';
import { createCatalogue } from './create-catalogue.ts';
import type { Deliver } from './delivery/deliver.contract.ts';
import { createEmit } from './emit.ts';
import './hooks.ts';
import { exposeMetrics, readMetrics } from './metrics.ts';
import { createPatience } from './patience.ts';
import { createDeliveryLog } from './recorder.ts';
import { createReplays } from './replay.ts';
import { sweep } from './retention.ts';
import { createSettingsStore, type SettingsStore } from './settings-store.ts';
import { createPostgresqlStore } from './store/postgresql-store.ts';
import { createSqliteStore } from './store/sqlite-store.ts';
import { completeTarget, toTarget } from './target.ts';
import type { Recorder, Webhooks } from './webhooks.ts';
import { createCircuits, type Circuits } from './worker/circuits.ts';
import type { Worker } from './worker/worker-contract.ts';
import { createWorker } from './worker/worker.ts';

export interface WebhooksParts {
  readonly host: Pick<HostApi, 'database' | 'options' | 'secrets' | 'hooks' | 'clock' | 'log' | 'site' | 'plugin'>;
  readonly events: readonly EventDefinition[];
  readonly deliver: Deliver;
  /** Milliseconds on a clock that never jumps. Default: the process's. */
  readonly elapsed?: () => number;
}

export interface WebhookService extends Webhooks {
  /** The fallback that cron runs every five minutes: looks for whatever was missed, and alone is enough to drain the queue. */
  fallback(): Promise<void>;
  /** Removes what has been kept long enough. */
  sweep(): Promise<number>;
}

/** Carries the ids of endpoints with new jobs to the nodes that work the queue. */
const channel = 'svc_webhooks';
/** Other nodes hear of new work at most this often while this one works too, in milliseconds. */
const notifyInterval = 50;

/** Event webhooks (contract 2.7, 3, 6, 8): makes the parts and puts them together. */
export async function createWebhooks({
  host,
  events,
  deliver,
  elapsed = () => performance.now(),
}: WebhooksParts): Promise<WebhookService> {
  const { database, hooks, clock, log } = host;
  const settings = createSettingsStore({ host, read: createSecretReader({ secrets: host.secrets, log }), elapsed });
  const catalogue = createCatalogue({ hooks, events });
  const owner = randomUUID();
  const store =
    database.dialect === 'sqlite' ? createSqliteStore(database, owner) : createPostgresqlStore(database, owner);
  const circuits = createCircuits({
    host,
    elapsed,
    closed: (id) => {
      wake.everywhere([id]);
    },
  });
  const worker = createWorker({
    host,
    store,
    circuits,
    elapsed,
    mayClaim: createGate(host, settings),
    isUnavailable: (error) => database.isUnavailable(error),
    attempt: createAttempt({ host, settings, store, deliver }),
    written: createReporter(host, settings),
    gaveBack: (ids) => {
      wake.others(ids);
    },
  });
  const wake = createWake({ host, owner, worker, elapsed });
  const replays = createReplays({
    host,
    wake: () => {
      wake.all();
    },
  });
  const log_ = createDeliveryLog({
    host,
    settings,
    store,
    catalogue,
    circuits,
    wake: (ids) => {
      wake.these(ids ?? []);
    },
  });
  let emitted = 0;
  const send = createEmit({
    host,
    catalogue,
    settings,
    store,
    patiently: createPatience(host, elapsed),
    wake: wake.these,
    sendNow: worker.sendNow,
  });
  let unlisten: (() => void) | null = null;

  async function takeCircuits(): Promise<void> {
    const paused = new Set(await circuits.load());
    const resumed = [...worker.lanes.values()].filter((lane) => lane.paused && !paused.has(lane.id));
    for (const lane of worker.lanes.values()) lane.paused = paused.has(lane.id);
    worker.wake([...paused, ...resumed.map(({ id }) => id)]);
  }

  /** What another node tells of an endpoint that is paused here may be that it is not any more. */
  function hear(payload: string): void {
    const ids = wake.heard(payload);
    const isAbout = [...worker.lanes.values()].some(
      (lane) => lane.paused && ids !== null && (ids.length === 0 || ids.includes(lane.id)),
    );
    if (isAbout)
      takeCircuits().catch((error: unknown) => {
        log.warn('Paused webhook endpoints could not be looked up; they are at the next probe.', { error });
      });
  }

  return {
    ...createAdministration({ host, store: settings, catalogue }),
    catalogue,
    emit: (name, data, context) => {
      emitted += 1;
      return send(name, data, context);
    },
    recorder: createRecorder({ host, log: log_, replays, circuits, worker, wake, emitted: () => emitted }),
    async work() {
      while (await replays.step()) await clock.sleep(1000);
      return worker.drain();
    },
    async start() {
      unlisten = await database.listen(channel, hear, () => {
        worker.wake();
      });
      wake.here(true);
      worker.start();
      await takeCircuits();
      replays.start();
    },
    async stop() {
      unlisten?.();
      wake.here(false);
      await worker.stop();
    },
    async fallback() {
      await takeCircuits();
      worker.wake();
      await worker.drain();
      if (await replays.step()) replays.start();
    },
    sweep: async () => sweep(host, (await settings.current()).stored.deliveredDays),
  };
}

interface RecorderPieces {
  readonly host: Pick<HostApi, 'database' | 'clock'>;
  readonly log: ReturnType<typeof createDeliveryLog>;
  readonly replays: ReturnType<typeof createReplays>;
  readonly circuits: Circuits;
  readonly worker: Worker;
  readonly wake: ReturnType<typeof createWake>;
  readonly emitted: () => number;
}

/** The flight recorder as pages and commands see it: the log, and what has a say in the queue. */
function createRecorder({ host, log, replays, circuits, worker, wake, emitted }: RecorderPieces): Recorder {
  return {
    ...log,
    replay: replays.replay,
    replays: replays.replays,
    stopReplay: replays.stopReplay,
    circuits: circuits.list,
    async resume(endpointId) {
      const resumed = await circuits.resume(endpointId);
      const lane = worker.lanes.get(endpointId);
      if (lane) lane.paused = false;
      wake.everywhere([endpointId]);
      return resumed;
    },
    metrics: () => readMetrics(host, worker, emitted()),
    exposeMetrics: async () => exposeMetrics(await readMetrics(host, worker, emitted())),
  };
}

/** Whether the queue may be worked: the settings can be read, and no plugin holds it. A filter that throws holds nothing up (D24). */
function createGate({ hooks, log }: Pick<HostApi, 'hooks' | 'log'>, settings: SettingsStore): () => Promise<boolean> {
  const name = 'svc_event_delivery_queue_processing_enabled';
  let told = false;
  const tell = (message: string, error: unknown): void => {
    if (!told) log.error(message, { error });
    told = true;
  };
  return async () => {
    try {
      await settings.current();
    } catch (error) {
      tell('The webhook queue waits: the settings of event webhooks cannot be read.', error);
      return false;
    }
    try {
      const isOpen = hooks.hasFilter(name) === false || Boolean(await hooks.applyFiltersAsync(name, true));
      told = false;
      return isOpen;
    } catch (error) {
      tell(`The filter ${name} failed; the queue is worked.`, error);
      return true;
    }
  };
}

interface WakeParts {
  readonly host: Pick<HostApi, 'database' | 'log' | 'clock'>;
  /** Of this process: it needs not hear what it told others. */
  readonly owner: string;
  readonly worker: { wake(ids?: readonly string[]): void };
  readonly elapsed: () => number;
}

/** Wakes the worker of this process at once, and those of other nodes through the database: who tells, and for which endpoints; none named: for any. */
function createWake({ host, owner, worker, elapsed }: WakeParts) {
  let isHere = false;
  let waiting: { readonly ids: Set<string>; all: boolean } | null = null;
  let last = -Infinity;

  /** A worker of this process needs nobody's help on SQLite; elsewhere others may share the work. */
  const wantsHelp = (): boolean => !isHere || host.database.dialect !== 'sqlite';

  /** Many emits in a moment are one notification. */
  function tell(ids: readonly string[] | null): void {
    const isFirst = waiting === null;
    waiting ??= { ids: new Set(), all: false };
    if (ids === null) waiting.all = true;
    else for (const id of ids) waiting.ids.add(id);
    if (!isFirst) return;
    const isHurried = !isHere && elapsed() - last > notifyInterval;
    if (isHurried) send();
    else host.clock.after(notifyInterval, send);
  }

  function send(): void {
    const named = waiting === null || waiting.all ? [] : [...waiting.ids];
    const payload = [owner, ...named].join(' ');
    waiting = null;
    last = elapsed();
    host.database.notify(channel, payload.length > 7_000 ? owner : payload).catch((error: unknown) => {
      host.log.warn('Other nodes could not be told of new webhook deliveries; they find them within five minutes.', {
        error,
      });
    });
  }

  return {
    here: (is: boolean): void => void (isHere = is),
    /** Answers what it was about: endpoints, none of them for any; null: what this process told itself. */
    heard(payload: string): readonly string[] | null {
      const [from, ...ids] = payload.split(' ');
      if (from === owner) return null;
      worker.wake(ids.length === 0 ? undefined : ids);
      return ids;
    },
    these: (ids: readonly string[]): void => {
      worker.wake(ids);
      if (wantsHelp()) tell(ids);
    },
    all: (): void => {
      worker.wake();
      if (wantsHelp()) tell(null);
    },
    /** For what this node leaves to others. */
    others: (ids: readonly string[]): void => {
      tell(ids);
    },
    /** For what every node has to know. */
    everywhere: (ids: readonly string[]): void => {
      worker.wake(ids);
      tell(ids);
    },
  };
}

/** Runs the actions after a delivery has ended. */
function createReporter(
  { hooks, log }: Pick<HostApi, 'hooks' | 'log'>,
  settings: SettingsStore,
): (attempted: Attempted) => void {
  return ({ finish, outcome }) => {
    if (finish.state === 'pending') return;
    const action =
      finish.state === 'delivered' ? 'svc_event_webhooks_delivery_completed' : 'svc_event_webhooks_delivery_failed';
    if (hooks.hasAction(action) === false) return;
    const { job } = finish;
    const result = {
      delivery_id: job.uuid,
      endpoint_id: job.endpointId,
      status: finish.state,
      attempts: job.attempts + finish.made,
      http_status: finish.status,
      duration_ms: Math.round(outcome?.duration ?? 0),
      ...(finish.error !== null && { error: finish.error }),
    };
    void settings
      .current()
      .then(({ byId }) => {
        const endpoint = byId.get(job.endpointId);
        const target =
          job.target === null && endpoint
            ? toTarget(endpoint)
            : completeTarget(job.target === null ? { id: job.endpointId } : (JSON.parse(job.target) as object));
        return hooks.doActionAsync(
          action,
          result,
          target,
          JSON.parse((job.ownBody ?? job.event?.body ?? '{}').toString()),
        );
      })
      .catch((error: unknown) => {
        log.error('An action after a webhook delivery failed.', { action, error });
      });
  };
}
