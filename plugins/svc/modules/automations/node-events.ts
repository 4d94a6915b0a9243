import type { HostApi } from '#plugin-api';

/** Between nodes. */
export const nodeChannel = 'svc_automations';

export type NodeEvent = { readonly kind: 'work' } | { readonly kind: 'cancelled'; readonly ids: readonly number[] };

/** Ids that fit into one notification. */
const mostIds = 500;

/** Tells every node; inside a transaction at its commit. Whoever does not hear of it finds work by cron, and what is cancelled by its lease. */
export function notifyNodes({ database, log }: Pick<HostApi, 'database' | 'log'>, news: NodeEvent): void {
  const short = news.kind === 'cancelled' ? { ...news, ids: news.ids.slice(0, mostIds) } : news;
  database.notify(nodeChannel, JSON.stringify(short)).catch((error: unknown) => {
    log.warn('Other nodes could not be told of automations; they find the work within five minutes.', { error });
  });
}
