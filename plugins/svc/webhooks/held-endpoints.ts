import type { HostApi } from '#plugin-api';
import type { SettingsStore, Snapshot } from './settings-store.ts';

/** Endpoints of this process whose deliveries wait because a secret that is set cannot be decrypted. */
export interface HeldEndpoints {
  /** Why deliveries to an endpoint wait; null: they do not. Announces what has changed since the last call. */
  check(endpointId: string): string | null;
}

/**
 * A delivery is never sent without the signature or the header that is set for it. The settings are read again each time, so
 * that deliveries resume once the key is restored, or the secret is entered again or removed.
 */
export function createHeldEndpoints(
  { hooks, log }: Pick<HostApi, 'hooks' | 'log'>,
  settings: Pick<SettingsStore, 'cached'>,
): HeldEndpoints {
  const held = new Map<string, string>();

  function announce(id: string, reason: string | null): void {
    if (reason === (held.get(id) ?? null)) return;
    if (reason === null) {
      held.delete(id);
      log.info('Held webhook deliveries resume', { event: 'webhook_endpoint_released', endpoint: id });
      void hooks.doActionAsync('svc_event_webhooks_endpoint_released', id);
      return;
    }
    held.set(id, reason);
    log.error('Webhook deliveries are held', { event: 'webhook_endpoint_held', endpoint: id, reason });
    void hooks.doActionAsync('svc_event_webhooks_endpoint_held', id, reason);
  }

  return {
    check(id) {
      const snapshot = settings.cached();
      if (snapshot === null) return held.get(id) ?? null;
      const reason = heldReason(snapshot, id);
      announce(id, reason);
      return reason;
    },
  };
}

/** Only of endpoints that would be sent to: deliveries to others end as `stopped`. */
export function heldReason(snapshot: Snapshot, endpointId: string): string | null {
  const endpoint = snapshot.byId.get(endpointId);
  return snapshot.stored.enabled && endpoint?.enabled === true && endpoint.url !== ''
    ? snapshot.holdReason(endpoint)
    : null;
}
