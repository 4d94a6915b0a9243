import type { HostApi } from '#plugin-api';
import { createEndpointAdministration, showEndpoint } from './administration-endpoints.ts';
import { createSecretAdministration, masked } from './administration-secrets.ts';
import type { Catalogue } from './catalogue.ts';
import { invalid } from './invalid-input.ts';
import type { SettingsStore } from './settings-store.ts';
import type { WebhookAdministration } from './webhooks.ts';

export interface AdministrationParts {
  readonly host: Pick<HostApi, 'secrets' | 'clock'>;
  readonly store: SettingsStore;
  readonly catalogue: Catalogue;
}

/** Endpoints, switch and secrets (contract 2.7). */
export function createAdministration({
  host: { secrets, clock },
  store,
  catalogue,
}: AdministrationParts): WebhookAdministration {
  const encrypt = (text: string): string => (text === '' ? '' : secrets.encrypt(text));

  return {
    ...createSecretAdministration({ store, clock, encrypt }),
    ...createEndpointAdministration({ store, catalogue, encrypt }),
    async settings() {
      const { stored } = await store.current();
      const until = stored.previous?.until ?? 0;
      return {
        enabled: stored.enabled,
        secret: masked(store.read, stored.secret),
        previousSecretUntil: until > clock.now() ? until : null,
        endpoints: stored.endpoints.map((endpoint) => showEndpoint(store, endpoint)),
        deliveredDays: stored.deliveredDays,
      };
    },
    setEnabled: (enabled) => store.change((stored) => ({ ...stored, enabled })),
    async setDeliveredDays(days) {
      if (!Number.isFinite(days) || days < 0 || days > 365) throw invalid({ deliveredDays: 'Days are 0 to 365.' });
      await store.change((stored) => ({ ...stored, deliveredDays: days }));
    },
  };
}
