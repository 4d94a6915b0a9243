/**
 * Fields of a log line. Add `event`, a `snake_case` code for alerts, and `request_id` where there is a request. Fields with
 * secret names (key, token, secret, password, authorization, cookie) are written as `[redacted]`.
 */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Structured logger: one JSON object per line on standard error. Every line of a plugin has `plugin: <slug>`.
 * Known secrets (keys saved in the settings) are removed from every string before it is written (D2, D3).
 */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds `fields` to every line. */
  child(fields: LogFields): Logger;
}
