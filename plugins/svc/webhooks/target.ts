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
  const [one, other] = [toTarget(left), toTarget(right)];
  return Object.entries(one).every(([name, value]) => other[name as keyof WebhookTarget] === value);
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
