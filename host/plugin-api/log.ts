/** Extra members of a log line. Members whose names look secret (key, token, secret, password, authorization, cookie) are written as `[redacted]`. */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Structured logger: one JSON object a line on standard error. Every line of a plugin carries `plugin: <slug>`.
 * Known secrets (keys saved through the settings) are cut out of every string before it is written (D2, D3).
 */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger whose lines all carry `fields` too. */
  child(fields: LogFields): Logger;
}
