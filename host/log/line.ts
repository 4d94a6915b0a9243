import type { LogFields } from '#plugin-api';

export type Level = 'debug' | 'info' | 'warn' | 'error';

/** One line before it is formatted. */
export interface LogLine {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly level: Level;
  readonly message: string;
  /** Serialised and redacted already. */
  readonly fields: LogFields;
}
