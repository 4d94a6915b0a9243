import type { HostApi } from '#plugin-api';
import type { Attempted, MakeAttempt } from '../attempt.ts';
import type { Store } from '../store/store-contract.ts';
import type { Circuits } from './circuits.ts';
import type { Lane } from './lane.ts';

export interface WorkerParts {
  readonly host: Pick<HostApi, 'clock' | 'log'>;
  readonly store: Store;
  readonly attempt: MakeAttempt;
  readonly circuits: Circuits;
  readonly elapsed: () => number;
  /** Told of each outcome that was written. */
  readonly written: (attempted: Attempted) => void;
  /** Told of the endpoints whose jobs this process gave back because it stops. */
  readonly gaveBack: (endpointIds: readonly string[]) => void;
  /** Whether jobs may be taken now. */
  readonly mayClaim: () => Promise<boolean>;
  readonly isUnavailable: (error: unknown) => boolean;
}

export interface Worker {
  /** There may be something due for these endpoints; none named: for any. */
  wake(endpointIds?: readonly string[]): void;
  start(): void;
  /** Takes nothing more, waits for attempts under way, writes everything, gives the rest back. */
  stop(): Promise<void>;
  /** Works until nothing is due; answers how many attempts were made. */
  drain(): Promise<number>;
  /** Sends these now, past the lanes, with their retries; answers how they ended. */
  sendNow(uuids: readonly string[]): Promise<{ delivered: number; failed: number }>;
  readonly lanes: ReadonlyMap<string, Lane>;
  inFlight(): number;
}
