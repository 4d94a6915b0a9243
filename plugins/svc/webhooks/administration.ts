import { randomBytes, randomUUID } from 'node:crypto';
import { RestError, type HostApi } from '#plugin-api';
import { mask } from '../settings/mask.ts';
import type { Catalogue } from './catalogue.ts';
import type { Endpoint, EndpointInput } from './endpoint.ts';
import type { SettingsStore, StoredEndpoint } from './settings-store.ts';
import type { WebhookAdministration } from './webhooks.ts';

const day = 86_400;
const mostEndpoints = 500;
const ourHeaders = /^(x-svc-.*|webhook-(id|timestamp|signature)|content-length|content-type|host|connection|transfer-encoding)$/i;

export interface AdministrationParts {
  readonly host: Pick<HostApi, 'secrets' | 'clock'>;
  readonly store: SettingsStore;
  readonly catalogue: Catalogue;
}

/** Endpoints, switch and secrets (contract 2.7). */
export function createAdministration({ host: { secrets, clock }, store, catalogue }: AdministrationParts): WebhookAdministration {
  const encrypt = (text: string): string => (text === '' ? '' : secrets.encrypt(text));
  const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

  const masked = (encrypted: string): string | null => {
    if (encrypted === '') return null;
    const plain = store.read(encrypted);
    return plain === null ? 'cannot be read, set it again' : mask(plain);
  };
  const shown = ({ secret, headers, ...endpoint }: StoredEndpoint): Endpoint => ({
    ...endpoint,
    secret: masked(secret),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, /auth|key|token|secret|cookie|pass/i.test(name) ? (masked(value) ?? '') : (store.read(value) ?? '')])),
  });

  function write(before: StoredEndpoint, input: EndpointInput): StoredEndpoint {
    const faults: Record<string, string> = {};
    const { secret, headers, events, id: _id, ...plain } = input;
    const given = Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined));
    const after: StoredEndpoint = {
      ...before,
      ...given,
      ...(input.name !== undefined && { name: String(input.name).trim() }),
      ...(input.url !== undefined && { url: String(input.url).trim() }),
      ...(events !== undefined && { events: readEvents(events, catalogue, faults) }),
      ...(secret !== undefined && { secret: encrypt(secret.trim()) }),
      ...(headers !== undefined && { headers: readHeaders(before.headers, headers, { encrypt, faults }) }),
    };
    if (after.name === '') faults['name'] = 'Give the endpoint a name.';
    if (after.name.length > 200) faults['name'] = 'The name may have at most 200 characters.';
    const url = urlFault(after.url);
    if (url !== null) faults['url'] = url;
    if (!Number.isInteger(after.redirects) || after.redirects < 0 || after.redirects > 5) faults['redirects'] = 'Redirects are a whole number from 0 to 5.';
    for (const name of ['enabled', 'internal', 'standardWebhooks', 'longTail', 'ordered'] as const) if (typeof after[name] !== 'boolean') faults[name] = `${name} is true or false.`;
    if (Object.keys(faults).length > 0) throw invalid(faults);
    return after;
  }

  async function saveSecret(value: string, overlap: number): Promise<void> {
    const encrypted = encrypt(value);
    const until = clock.now() + overlap * 1000;
    await store.change((stored) => ({ ...stored, previous: overlap > 0 && stored.secret !== '' ? { secret: stored.secret, until } : null, secret: encrypted }));
  }

  return {
    async settings() {
      const { stored } = await store.current();
      const until = stored.previous?.until ?? 0;
      return { enabled: stored.enabled, secret: masked(stored.secret), previousSecretUntil: until > clock.now() ? until : null, endpoints: stored.endpoints.map(shown), deliveredDays: stored.deliveredDays };
    },
    setEnabled: (enabled) => store.change((stored) => ({ ...stored, enabled })),
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
      if (!Number.isFinite(overlap) || overlap < 0 || overlap > 30 * day) throw invalid({ overlap: 'The overlap is 0 to 30 days, in seconds.' });
      const secret = newSecret();
      await saveSecret(secret, overlap);
      return secret;
    },
    clearSecret: () => store.change((stored) => ({ ...stored, secret: '', previous: null })),
    async addEndpoint(input) {
      const added = write({ ...emptyEndpoint, id: randomUUID() }, input);
      await store.change((stored) => {
        if (stored.endpoints.length >= mostEndpoints) throw invalid({ name: `There may be at most ${String(mostEndpoints)} endpoints.` });
        return { ...stored, endpoints: [...stored.endpoints, added] };
      });
      return shown(added);
    },
    async updateEndpoint(id, input) {
      let updated: StoredEndpoint | undefined;
      await store.change((stored) => {
        const before = stored.endpoints.find((endpoint) => endpoint.id === id);
        if (!before) throw new RestError({ code: 'rest_svc_webhook_not_found', message: `There is no webhook endpoint with the id ${id}.`, status: 404 });
        const after = (updated = write(before, input));
        return { ...stored, endpoints: stored.endpoints.map((endpoint) => (endpoint.id === id ? after : endpoint)) };
      });
      return shown(updated as StoredEndpoint);
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
    async setDeliveredDays(days) {
      if (!Number.isFinite(days) || days < 0 || days > 365) throw invalid({ deliveredDays: 'Days are 0 to 365.' });
      await store.change((stored) => ({ ...stored, deliveredDays: days }));
    },
  };
}

const emptyEndpoint: Omit<StoredEndpoint, 'id'> = {
  name: '', url: '', enabled: true, events: [], internal: false, secret: '', headers: {}, standardWebhooks: false, redirects: 2, longTail: false, ordered: false,
};

/** An endpoint may be saved without an address (contract 6.1: it then receives nothing). */
function urlFault(url: string): string | null {
  if (url === '') return null;
  if (!URL.canParse(url)) return 'The URL is not an address. Write it like https://example.com/hooks.';
  const { protocol, username, password } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return 'Only http and https addresses can be called.';
  return username === '' && password === '' ? null : 'The URL holds a user name or password. Send them in a custom header.';
}

function readEvents(names: readonly string[], catalogue: Catalogue, faults: Record<string, string>): readonly string[] {
  if (!Array.isArray(names)) {
    faults['events'] = 'events is a list of names.';
    return [];
  }
  const known = names.map((name) => [name, catalogue.normalise(String(name))] as const);
  const unknown = known.filter(([, normal]) => normal === null).map(([name]) => String(name));
  if (unknown.length > 0) faults['events'] = `There is no event named ${unknown.join(', ')}.`;
  return [...new Set(known.flatMap(([, normal]) => (normal === null ? [] : [normal])))].sort();
}

function readHeaders(
  before: Readonly<Record<string, string>>,
  given: Readonly<Record<string, string | null>>,
  { encrypt, faults }: { readonly encrypt: (text: string) => string; readonly faults: Record<string, string> },
): Record<string, string> {
  const after = { ...before };
  for (const [name, value] of Object.entries(given)) {
    if (value === null) Reflect.deleteProperty(after, name);
    else if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || /[\r\n\0]/.test(value)) faults['headers'] = `'${name}' is not a header that can be sent.`;
    else if (ourHeaders.test(name)) faults['headers'] = `The header ${name} is set by the service.`;
    else after[name] = encrypt(value);
  }
  return after;
}

function invalid(faults: Readonly<Record<string, string>>): RestError {
  return new RestError({ code: 'rest_invalid_param', message: Object.values(faults).join(' '), status: 400, data: { params: faults } });
}
