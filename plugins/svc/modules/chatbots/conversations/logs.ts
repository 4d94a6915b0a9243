import type { HostApi } from '#plugin-api';
import { createLogRows, guestName, type LogRow } from './log-rows.ts';
import type { LogFilter, LogPage } from './search/log-query.ts';
import { createLogSearch, type LogSearch } from './search/log-search.ts';

/** The logs of all conversations, as the REST route and the pages read them. */
export interface Logs extends LogSearch {
  page(filter: LogFilter, page: LogPage): Promise<{ readonly rows: readonly LogRow[]; readonly total: number }>;
  /**
   * Users whose display name, user name or email address contains the text; case does not matter. The word "guest" finds
   * guests (0). Returns undefined for a blank text, which matches all.
   */
  usersLike(text: string): Promise<ReadonlySet<number> | undefined>;
}

export function createLogs({ host }: { readonly host: Pick<HostApi, 'database' | 'users'> }): Logs {
  const rows = createLogRows(host);
  const search = createLogSearch({ host });
  return {
    ...search,
    async page(filter, page) {
      const { ids, total } = await search.find(filter, page);
      return { rows: await rows(ids), total };
    },
    async usersLike(text) {
      const part = text.trim();
      if (part === '') return undefined;
      const ids = new Set(await host.users.ids({ search: part }));
      if (part.toLowerCase() === guestName.toLowerCase()) ids.add(0);
      return ids;
    },
  };
}
