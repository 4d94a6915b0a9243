import type { DatabaseApi } from '#plugin-api';

/** For what must not use the database. */
export const noDatabase = new Proxy({} as DatabaseApi, {
  get() {
    throw new Error('The database was used.');
  },
});
