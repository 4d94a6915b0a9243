import { restError, type HostApi, type StoredSecret, invalidFields } from '#plugin-api';
import type { Catalogue } from './catalogue.ts';
import { secretContexts, type SettingsStore, type StoredEndpoint, type StoredSettings } from './settings-store.ts';
import type { WebhookAdministration } from './webhooks.ts';
import { randomBytes, randomUUID } from 'node:crypto';
import { maskSecret, unreadableText } from '../settings/secret-reader.ts';
import { applyInput, type ApplyParts } from './endpoint-input.ts';
import { newEndpoint, type Endpoint } from './endpoint.ts';
import { checkStandardSecrets, secretError } from './signing-secret.ts';

const maxEndpoints = 500;

interface EndpointParts extends ApplyParts {
  readonly store: SettingsStore;
  readonly resume: AdministrationParts['resume'];
}

type EndpointAdministration = Pick<WebhookAdministration, 'addEndpoint' | 'updateEndpoint' | 'removeEndpoint'>;

/** Adds, changes and removes endpoints. */
function createEndpointAdministration({ store, resume, ...parts }: EndpointParts): EndpointAdministration {
  return {
    async addEndpoint(input) {
      const added = applyInput({ ...newEndpoint, secret: '', headers: {}, id: randomUUID() }, input, parts);
      await store.change((stored) => {
        if (stored.endpoints.length >= maxEndpoints)
          throw invalidFields({ name: `There may be at most ${String(maxEndpoints)} endpoints.` });
        return checkStandardSecrets({ ...stored, endpoints: [...stored.endpoints, added] }, [added], parts.read);
      });
      return toEndpoint(store, added);
    },
    async updateEndpoint(id, input) {
      let updated: StoredEndpoint | undefined;
      let isMoved = false;
      await store.change((stored) => {
        const before = stored.endpoints.find((endpoint) => endpoint.id === id);
        if (!before)
          throw restError(404, 'rest_svc_webhook_not_found', `There is no webhook endpoint with the id ${id}.`);
        const after = (updated = applyInput(before, input, parts));
        isMoved = after.url !== before.url;
        const endpoints = stored.endpoints.map((endpoint) => (endpoint.id === id ? after : endpoint));
        return checkStandardSecrets({ ...stored, endpoints }, [after], parts.read);
      });
      // What is known of the former address says nothing about the new one.
      if (isMoved) await resume(id);
      return toEndpoint(store, updated as StoredEndpoint);
    },
    async removeEndpoint(id) {
      let found = false;
      await store.change((stored) => {
        const gone = stored.endpoints.find((endpoint) => endpoint.id === id);
        found = gone !== undefined;
        if (!gone) return stored;
        const removed = Object.fromEntries([...Object.entries(stored.removed), [id, gone.name]].slice(-100));
        return { ...stored, removed, endpoints: stored.endpoints.filter((endpoint) => endpoint !== gone) };
      });
      return found;
    },
  };
}

/** Converts a stored endpoint for pages and commands, with masked secrets. */
async function toEndpoint(
  { read, current }: Pick<SettingsStore, 'read' | 'current'>,
  stored: StoredEndpoint,
): Promise<Endpoint> {
  const { secret, headers, ...endpoint } = stored;
  return {
    ...endpoint,
    held: (await current()).holdReason(stored),
    secret: describeSecret(read, secret, secretContexts.endpoint(stored)),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        describeSecret(read, value, secretContexts.header(stored, name)) ?? '',
      ]),
    ),
  };
}

const day = 86_400;

interface SecretParts {
  readonly store: SettingsStore;
  readonly clock: HostApi['clock'];
  readonly encrypt: ApplyParts['encrypt'];
}

type SecretAdministration = Pick<
  WebhookAdministration,
  'generateSecret' | 'setSecret' | 'rotateSecret' | 'clearSecret'
>;

/** The common signing secret, for endpoints without their own. */
function createSecretAdministration({ store, clock, encrypt }: SecretParts): SecretAdministration {
  const isReadable = (encrypted: string): boolean =>
    encrypted !== '' && store.read(encrypted, secretContexts.common) !== null;
  const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

  async function saveSecret(value: string, overlap: number): Promise<void> {
    const encrypted = encrypt(value, secretContexts.common);
    const until = clock.now() + overlap * 1000;
    await store.change((stored) => {
      const previous = overlap > 0 && isReadable(stored.secret) ? { secret: stored.secret, until } : null;
      const users = stored.endpoints.filter((endpoint) => endpoint.secret === '');
      return checkStandardSecrets({ ...stored, previous, secret: encrypted }, users, store.read);
    });
  }

  return {
    async generateSecret() {
      const secret = newSecret();
      await saveSecret(secret, 0);
      return secret;
    },
    async setSecret(value) {
      const secret = value.trim();
      if (secret === '') throw invalidFields({ secret: 'Enter a secret or generate one.' });
      const error = secretError(secret);
      if (error !== null) throw invalidFields({ secret: error });
      await saveSecret(secret, 0);
    },
    async rotateSecret(overlap = day) {
      if (!Number.isFinite(overlap) || overlap < 0 || overlap > 30 * day)
        throw invalidFields({ overlap: 'The overlap must be 0 to 30 days, in seconds.' });
      const secret = newSecret();
      await saveSecret(secret, overlap);
      return secret;
    },
    clearSecret: () => store.change((stored) => ({ ...stored, secret: '', previous: null })),
  };
}

/** How an encrypted secret ends; null: no secret. */
function describeSecret(read: SettingsStore['read'], encrypted: string, context: string): string | null {
  if (encrypted === '') return null;
  const plain = read(encrypted, context);
  return plain === null ? unreadableText : maskSecret(plain);
}

/** Applies `change` to every stored secret; the settings are unchanged if it changes none. */
function rewriteSecrets(stored: StoredSettings, change: (secret: StoredSecret) => string): StoredSettings {
  const { common, endpoint: ofEndpoint, header } = secretContexts;
  const apply = (label: string, encrypted: string, context: string): string =>
    encrypted === '' ? '' : change({ label, encrypted, context });
  return {
    ...stored,
    secret: apply('Webhook signing secret', stored.secret, common),
    previous: stored.previous && {
      ...stored.previous,
      secret: apply('Previous webhook signing secret', stored.previous.secret, common),
    },
    endpoints: stored.endpoints.map((endpoint) => ({
      ...endpoint,
      secret: apply(`Signing secret of the webhook endpoint ${endpoint.name}`, endpoint.secret, ofEndpoint(endpoint)),
      headers: Object.fromEntries(
        Object.entries(endpoint.headers).map(([name, value]) => [
          name,
          apply(`Header ${name} of the webhook endpoint ${endpoint.name}`, value, header(endpoint, name)),
        ]),
      ),
    })),
  };
}

export interface AdministrationParts {
  readonly host: Pick<HostApi, 'secrets' | 'clock'>;
  readonly store: SettingsStore;
  readonly catalogue: Catalogue;
  /** Ends the pause of an endpoint. */
  readonly resume: (endpointId: string) => Promise<unknown>;
}

/** Endpoints, switch and secrets (contract 2.7). */
export function createAdministration({
  host: { secrets, clock },
  store,
  catalogue,
  resume,
}: AdministrationParts): WebhookAdministration {
  const encrypt: ApplyParts['encrypt'] = (text, context) => (text === '' ? '' : secrets.encrypt(text, context));
  const { read } = store;

  return {
    ...createSecretAdministration({ store, clock, encrypt }),
    ...createEndpointAdministration({ store, catalogue, encrypt, read, resume }),
    async settings() {
      const { stored } = await store.current();
      const until = stored.previous?.until ?? 0;
      return {
        enabled: stored.enabled,
        secret: describeSecret(read, stored.secret, secretContexts.common),
        previousSecretUntil: until > clock.now() ? until : null,
        endpoints: await Promise.all(stored.endpoints.map((endpoint) => toEndpoint(store, endpoint))),
        deliveredDays: stored.deliveredDays,
      };
    },
    secretStore: { rewrite: (change) => store.change((stored) => rewriteSecrets(stored, change)) },
    setEnabled: (enabled) => store.change((stored) => ({ ...stored, enabled })),
    async setDeliveredDays(days) {
      if (!Number.isFinite(days) || days < 0 || days > 365)
        throw invalidFields({ deliveredDays: 'Enter 0 to 365 days.' });
      await store.change((stored) => ({ ...stored, deliveredDays: days }));
    },
  };
}
