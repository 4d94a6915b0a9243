import { createHooks } from '../../../host/hooks/hooks.ts';
import { createFakeClock, type FakeClock } from '../../../host/testing/fake-clock.ts';
import type { AiServices, AiSettings } from '../../../plugins/svc/ai/ports.ts';
import {
  ProviderError,
  type Provider,
  type TextRequest,
  type TextResult,
} from '../../../plugins/svc/providers/provider.ts';
import { createProviderRegistry } from '../../../plugins/svc/providers/registry.ts';
import { currentFetch } from '../../helpers/recorded-responses.ts';
import { documents } from '../../helpers/documents.ts';
import { upstreamThrough } from '../../helpers/upstream-http.ts';
import { silentLog } from '../../helpers/silent-log.ts';

export interface ServicesInit {
  readonly settings?: Partial<AiSettings>;
  readonly providers?: readonly Provider[];
  readonly clock?: FakeClock;
  readonly timezone?: string;
}

/** Services with a fake clock whose sleeps pass at once, saved settings with a key, and the built-in providers unless others are named. */
export async function services(init: ServicesInit = {}): Promise<AiServices & { clock: FakeClock }> {
  const hooks = createHooks();
  const { providers } = init;
  if (providers) hooks.addFilter('svc_providers', () => providers);
  const clock = init.clock ?? createFakeClock({ skipSleeps: true });
  const site = {
    url: 'http://localhost',
    role: 'all' as const,
    version: '1.0.0',
    dataDir: null,
    id: async () => 'a site of tests',
    name: () => Promise.resolve('Site'),
    timezone: () => Promise.resolve(init.timezone ?? 'UTC'),
    addPage: () => () => undefined,
  };
  return {
    clock,
    registry: createProviderRegistry({ hooks }),
    settings: {
      provider: () => Promise.resolve({ api_key: 'test-key-0123456789' }),
      aiParams: () => Promise.resolve({}),
      timeouts: () => Promise.resolve({ text: 60_000, embeddings: 60_000, images: 180_000 }),
      imageDefaults: () => Promise.resolve({}),
      ...init.settings,
    },
    host: { clock, documents, log: silentLog, site },
    upstream: upstreamThrough(currentFetch),
    random: () => 1,
  };
}

export const answer: TextResult = {
  content: 'Bonjour.',
  usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
  model: 'answered',
  ignored: [],
};

/** A provider of one's own that does what it is told, and remembers the requests. */
export function scripted(...script: readonly (TextResult | Error)[]): Provider & {
  readonly requests: TextRequest[];
  readonly timeouts: number[];
  readonly fetches: ReadonlySet<typeof globalThis.fetch>;
} {
  const requests: TextRequest[] = [];
  const fetches = new Set<typeof globalThis.fetch>();
  const timeouts: number[] = [];
  return {
    id: 'scripted',
    label: 'Scripted',
    settings: {
      type: 'object',
      properties: {
        api_key: { type: 'string', title: 'API key', writeOnly: true },
        model: { type: 'string', title: 'Text model' },
      },
    },
    required: ['api_key'],
    requests,
    timeouts,
    fetches,
    text: {
      params: {},
      generate: (request, connection) => {
        requests.push(request);
        timeouts.push(connection.timeout);
        fetches.add(connection.fetch);
        const step = script[Math.min(requests.length, script.length) - 1] ?? answer;
        return step instanceof Error ? Promise.reject(step) : Promise.resolve(step);
      },
    },
    listModels: () => Promise.resolve([]),
  };
}

export const overloaded = new ProviderError({ kind: 'unavailable', status: 503, message: 'Overloaded.' });
