import type { Logger } from '#plugin-api';

const nothing = (): void => undefined;

/** A logger for tests that look at no log. */
export const silentLog: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  child: () => silentLog,
};
