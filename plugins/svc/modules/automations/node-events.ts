import type { HostApi } from '#plugin-api';

/** PostgreSQL channel between nodes. */
export const nodeChannel = 'svc_automations';

export type NodeEvent = { readonly kind: 'work' } | { readonly kind: 'cancelled'; readonly ids: readonly number[] };

/** Ids that fit into one notification. */
const maxIds = 500;

/**
 * Notifies every node; in a transaction, at its commit. A node that misses it finds new work by cron, and learns of
 * cancelled items when it renews their leases.
 */
export function notifyNodes({ database, log }: Pick<HostApi, 'database' | 'log'>, event: NodeEvent): void {
  const payload = event.kind === 'cancelled' ? { ...event, ids: event.ids.slice(0, maxIds) } : event;
  database.notify(nodeChannel, JSON.stringify(payload)).catch((error: unknown) => {
    log.warn('Failed to notify other nodes of automations; they find the work within five minutes', {
      event: 'automation_notify_failed',
      error,
    });
  });
}
