import type { StoredEndpoint } from './settings-store.ts';
import type { WebhookTarget } from './endpoint.ts';

/** Drops secrets, headers and subscriptions: filters and actions do not see them. */
export function toTarget({
  id,
  name,
  url,
  internal,
  standardWebhooks,
  redirects,
  longTail,
  ordered,
}: StoredEndpoint | WebhookTarget): WebhookTarget {
  return { id, name, url, internal, standardWebhooks, redirects, longTail, ordered };
}

export function isSameTarget(left: StoredEndpoint | WebhookTarget, right: StoredEndpoint | WebhookTarget): boolean {
  return (
    left.id === right.id &&
    left.name === right.name &&
    left.url === right.url &&
    left.internal === right.internal &&
    left.standardWebhooks === right.standardWebhooks &&
    left.redirects === right.redirects &&
    left.longTail === right.longTail &&
    left.ordered === right.ordered
  );
}

/** Fills in members that a filter may omit in a target it adds. */
export function completeTarget(target: Partial<WebhookTarget>): WebhookTarget {
  const url = String(target.url ?? '');
  return {
    id: String(target.id ?? url),
    name: String(target.name ?? url),
    url,
    internal: target.internal === true,
    standardWebhooks: target.standardWebhooks === true,
    redirects: typeof target.redirects === 'number' ? target.redirects : 2,
    longTail: target.longTail === true,
    ordered: target.ordered === true,
  };
}
