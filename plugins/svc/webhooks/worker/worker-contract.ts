import type { HostApi } from '#plugin-api';
import type { CompletedAttempt, MakeAttempt } from '../attempt.ts';
import type { Store } from '../store/store-contract.ts';
import type { Circuits } from './circuits.ts';
import type { EndpointQueue } from './endpoint-queue.ts';

export interface WorkerParts {
  readonly host: Pick<HostApi, 'clock' | 'log'>;
  readonly store: Store;
  readonly attempt: MakeAttempt;
  readonly circuits: Circuits;
  readonly elapsed: () => number;
  /** Called after a result was written. */
  readonly onSettled: (completed: CompletedAttempt) => void;
  /** Called with the endpoints whose jobs this process released because it stops. */
  readonly onReleased: (endpointIds: readonly string[]) => void;
  /** Why deliveries to an endpoint are held by this process; null: they are not. */
  readonly holdReason: (endpointId: string) => string | null;
  /** Whether jobs may be claimed now. */
  readonly mayClaim: () => Promise<boolean>;
  readonly isUnavailable: (error: unknown) => boolean;
}

export interface SendNowOptions {
  /** Whether also to endpoints that are paused. Otherwise their deliveries wait in the queue. */
  readonly evenPaused?: boolean;
}

export interface Worker {
  /** Looks for due jobs of these endpoints; without ids, of all endpoints. */
  wake(endpointIds?: readonly string[]): void;
  start(): void;
  /** Claims nothing more, waits for in-flight attempts, writes their results and releases unsent jobs. */
  stop(): Promise<void>;
  /** Works until nothing is due. Returns the number of attempts. */
  drain(): Promise<number>;
  /** Sends these deliveries now, outside the endpoint queues, with near retries. Returns how they ended. */
  sendNow(uuids: readonly string[], options?: SendNowOptions): Promise<{ delivered: number; failed: number }>;
  readonly queues: ReadonlyMap<string, EndpointQueue>;
  inFlight(): number;
}
