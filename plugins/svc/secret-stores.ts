import type { HostApi, SecretStore } from '#plugin-api';
import { siteKeyStore } from './kit/site-key.ts';
import { widgetKeyOption } from './kit/visitors/signer.ts';
import { receiptKeyOption } from './modules/chatbots/conversations/receipts.ts';
import { isUnbound } from './settings/secret-reader.ts';
import type { ServiceContext } from './wiring.ts';

type Parts = Pick<
  ServiceContext,
  'host' | 'settings' | 'providers' | 'vectorStores' | 'vectorStoreSettings' | 'webhooks'
>;

/** Every place where the service stores secrets. A new one is added here, so that the host can report what it cannot read. */
export function secretStores({
  host,
  settings,
  providers,
  vectorStores,
  vectorStoreSettings,
  webhooks,
}: Parts): readonly SecretStore[] {
  return [
    settings.restKey.secretStore,
    webhooks.secretStore,
    inTurn(() => providers.all().map((provider) => settings.providers.secretStore(provider))),
    inTurn(() => vectorStores.all().map((store) => vectorStoreSettings.secretStore(store))),
    siteKeyStore(host, { option: widgetKeyOption, label: 'key of the chat widget' }),
    siteKeyStore(host, { option: receiptKeyOption, label: 'key of receipts' }),
  ];
}

/** Stores that other plugins may add to and remove from at any time. */
function inTurn(list: () => readonly SecretStore[]): SecretStore {
  return {
    async rewrite(change) {
      for (const store of list()) await store.rewrite(change);
    },
  };
}

/**
 * Encrypts secrets that an earlier version stored again, bound to where they are (D35). Several nodes may start at once: a
 * store that another one changes meanwhile is left to it.
 */
export async function bindSecrets(
  stores: readonly SecretStore[],
  { secrets, log }: Pick<HostApi, 'secrets' | 'log'>,
): Promise<void> {
  for (const store of stores)
    await store
      .rewrite(({ encrypted, context }) => {
        if (!isUnbound(encrypted) || context === undefined) return encrypted;
        try {
          return secrets.encrypt(secrets.decrypt(encrypted), context);
        } catch {
          return encrypted;
        }
      })
      .catch((error: unknown) =>
        log.warn('Secrets of an earlier version were not encrypted again', { event: 'secrets_not_bound', error }),
      );
}
