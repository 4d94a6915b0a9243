import { randomUUID } from 'node:crypto';
import { RestError } from '#plugin-api';
import { masked } from './administration-secrets.ts';
import { applyInput, type ApplyParts } from './endpoint-input.ts';
import type { Endpoint } from './endpoint.ts';
import { invalid } from './invalid-input.ts';
import type { SettingsStore, StoredEndpoint } from './settings-store.ts';
import type { WebhookAdministration } from './webhooks.ts';

const mostEndpoints = 500;

const emptyEndpoint: Omit<StoredEndpoint, 'id'> = {
  name: '',
  url: '',
  enabled: true,
  events: [],
  internal: false,
  secret: '',
  headers: {},
  standardWebhooks: false,
  redirects: 2,
  longTail: false,
  ordered: false,
};

export interface EndpointParts extends ApplyParts {
  readonly store: SettingsStore;
}

type EndpointAdministration = Pick<WebhookAdministration, 'addEndpoint' | 'updateEndpoint' | 'removeEndpoint'>;

/** Adds, changes and removes endpoints. */
export function createEndpointAdministration({ store, ...parts }: EndpointParts): EndpointAdministration {
  return {
    async addEndpoint(input) {
      const added = applyInput({ ...emptyEndpoint, id: randomUUID() }, input, parts);
      await store.change((stored) => {
        if (stored.endpoints.length >= mostEndpoints)
          throw invalid({ name: `There may be at most ${String(mostEndpoints)} endpoints.` });
        return { ...stored, endpoints: [...stored.endpoints, added] };
      });
      return showEndpoint(store, added);
    },
    async updateEndpoint(id, input) {
      let updated: StoredEndpoint | undefined;
      await store.change((stored) => {
        const before = stored.endpoints.find((endpoint) => endpoint.id === id);
        if (!before)
          throw new RestError({
            code: 'rest_svc_webhook_not_found',
            message: `There is no webhook endpoint with the id ${id}.`,
            status: 404,
          });
        const after = (updated = applyInput(before, input, parts));
        return { ...stored, endpoints: stored.endpoints.map((endpoint) => (endpoint.id === id ? after : endpoint)) };
      });
      return showEndpoint(store, updated as StoredEndpoint);
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

/** Without what is secret. */
export function showEndpoint(
  { read }: Pick<SettingsStore, 'read'>,
  { secret, headers, ...endpoint }: StoredEndpoint,
): Endpoint {
  return {
    ...endpoint,
    secret: masked(read, secret),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        /auth|key|token|secret|cookie|pass/i.test(name) ? (masked(read, value) ?? '') : (read(value) ?? ''),
      ]),
    ),
  };
}
