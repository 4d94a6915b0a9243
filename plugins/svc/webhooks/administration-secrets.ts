import { randomBytes } from 'node:crypto';
import type { HostApi } from '#plugin-api';
import { mask } from '../settings/mask.ts';
import { invalid } from './invalid-input.ts';
import type { SettingsStore } from './settings-store.ts';
import type { WebhookAdministration } from './webhooks.ts';

const day = 86_400;

export interface SecretParts {
  readonly store: SettingsStore;
  readonly clock: HostApi['clock'];
  readonly encrypt: (text: string) => string;
}

type SecretAdministration = Pick<
  WebhookAdministration,
  'generateSecret' | 'setSecret' | 'rotateSecret' | 'clearSecret'
>;

/** The secret that signs for every endpoint without one of its own. */
export function createSecretAdministration({ store, clock, encrypt }: SecretParts): SecretAdministration {
  const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

  async function saveSecret(value: string, overlap: number): Promise<void> {
    const encrypted = encrypt(value);
    const until = clock.now() + overlap * 1000;
    await store.change((stored) => ({
      ...stored,
      previous: overlap > 0 && stored.secret !== '' ? { secret: stored.secret, until } : null,
      secret: encrypted,
    }));
  }

  return {
    async generateSecret() {
      const secret = newSecret();
      await saveSecret(secret, 0);
      return secret;
    },
    async setSecret(value) {
      const secret = value.trim();
      if (secret === '') throw invalid({ secret: 'Type a secret, or generate one.' });
      if (secret.length > 1000) throw invalid({ secret: 'The secret may have at most 1000 characters.' });
      await saveSecret(secret, 0);
    },
    async rotateSecret(overlap = day) {
      if (!Number.isFinite(overlap) || overlap < 0 || overlap > 30 * day)
        throw invalid({ overlap: 'The overlap is 0 to 30 days, in seconds.' });
      const secret = newSecret();
      await saveSecret(secret, overlap);
      return secret;
    },
    clearSecret: () => store.change((stored) => ({ ...stored, secret: '', previous: null })),
  };
}

/** How an encrypted secret ends; null: there is none. */
export function masked(read: SettingsStore['read'], encrypted: string): string | null {
  if (encrypted === '') return null;
  const plain = read(encrypted);
  return plain === null ? 'cannot be read, set it again' : mask(plain);
}
