import type { HostApi } from '#plugin-api';
import type { EventDefinition } from '../kit/define-event.ts';
import { lazyMethods } from '../kit/lazy.ts';
import { createSecretReader } from '../settings/secret-reader.ts';
import { createAdministration } from './administration.ts';
import { createCatalogue } from './catalogue.ts';
import type { Deliver } from './delivery/deliver.contract.ts';
import type { ErasedEvents, ErasedPerson } from './erase-person.ts';
import type { Replays } from './replay.ts';
import { createSettingsStore } from './settings-store.ts';
import type { WebhookQueue } from './webhook-queue.ts';
import type { Webhooks } from './webhooks.ts';

export interface WebhooksParts {
  readonly host: Pick<
    HostApi,
    'database' | 'options' | 'secrets' | 'hooks' | 'clock' | 'jobs' | 'log' | 'site' | 'plugin'
  >;
  readonly events: readonly EventDefinition[];
  readonly deliver: Deliver;
  /** Milliseconds on a monotonic clock. Default: the clock of the process. */
  readonly elapsed?: () => number;
}

export interface WebhookService extends Webhooks {
  /** Cron calls it every five minutes. It picks up missed work and drains the queue even if nothing else does. */
  fallback(): Promise<void>;
  /** Deletes deliveries whose retention has ended. Returns how many. */
  sweep(): Promise<number>;
  /** Does the work of the job `replayJob`. */
  readonly runReplay: Replays['run'];
  /** See `erase-person.ts`. */
  erasePerson(person: ErasedPerson): Promise<ErasedEvents>;
}

/** Assembles event webhooks (contract 2.7, 3, 6, 8). What sends them is loaded by the first event, or the start of the worker. */
export function createWebhooks({
  host,
  events,
  deliver,
  elapsed = () => performance.now(),
}: WebhooksParts): WebhookService {
  const settings = createSettingsStore({
    ...{ host, elapsed, read: createSecretReader({ secrets: host.secrets, log: host.log }) },
  });
  const catalogue = createCatalogue({ hooks: host.hooks, events });
  let started: Promise<WebhookQueue> | null = null;
  const load = (): Promise<WebhookQueue> =>
    (started ??= import('./webhook-queue.ts').then(({ createWebhookQueue }) =>
      createWebhookQueue({ host, settings, catalogue, deliver, elapsed }),
    ));
  return {
    ...createAdministration({
      ...{ host, store: settings, catalogue },
      resume: async (endpointId) => (await load()).deliveryLog.resume(endpointId),
    }),
    catalogue,
    hasStarted: () => started !== null,
    ...lazyMethods(load, ['emit', 'work', 'start', 'fallback', 'sweep', 'runReplay', 'erasePerson']),
    async stop() {
      await (await started)?.stop();
    },
    deliveryLog: lazyMethods(
      async () => (await load()).deliveryLog,
      [
        ...([
          'list',
          'get',
          'recentEvents',
          'recentFailures',
          'retry',
          'clear',
          'replay',
          'replays',
          'stopReplay',
        ] as const),
        ...(['checkEligibility', 'circuits', 'resume', 'metrics'] as const),
      ],
    ),
  };
}
