import { readdir } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import type { HooksApi } from '#plugin-api';
import type { Provider } from './provider.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** The providers on offer. Add one of your own, or take one away; its id must be free. */
    svc_providers: (providers: readonly Provider[]) => readonly Provider[];
  }
}

/** Every provider on offer: the files of this folder, then the filter `svc_providers`, asked anew at each call. */
export interface ProviderRegistry {
  all(): Provider[];
  get(id: string): Provider | undefined;
  /** Whether a provider is one of this folder's; one that a filter put in its place is not. */
  isOwn(provider: Provider): boolean;
}

/** The order in which contract 4.2 names them; others follow by name. */
const order = ['openai', 'azure', 'google', 'openrouter', 'claude', 'deepseek', 'xai', 'ollama'];

/** Imports every `<id>.provider.ts` of this folder. The vendors' SDKs are not loaded by that. */
export async function createProviderRegistry({
  hooks,
}: {
  readonly hooks: Pick<HooksApi, 'applyFilters'>;
}): Promise<ProviderRegistry> {
  const own = await loadProviders(import.meta.dirname);
  const ownById = new Map(own.map((provider) => [provider.id, provider]));
  /** Undefined while no filter changes our own: the common case, met several times in each request. */
  const changed = (): Provider[] | undefined => {
    const filtered = hooks.applyFilters('svc_providers', own);
    return filtered === own ? undefined : checked(filtered);
  };
  return {
    all: () => changed() ?? [...own],
    isOwn: (provider) => own.includes(provider),
    get(id) {
      const list = changed();
      return list ? list.find((provider) => provider.id === id) : ownById.get(id);
    },
  };
}

async function loadProviders(directory: string): Promise<Provider[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.provider.ts'));
  const modules = await Promise.all(
    files.map((file) => import(pathToFileURL(join(directory, file)).href) as Promise<{ provider: Provider }>),
  );
  return modules
    .map(({ provider }) => provider)
    .sort((left, right) => rank(left.id) - rank(right.id) || left.id.localeCompare(right.id));
}

function rank(id: string): number {
  const place = order.indexOf(id);
  return place < 0 ? order.length : place;
}

/** A filter may answer anything; only whole providers with an id of their own are taken, the first of an id. */
function checked(providers: unknown): Provider[] {
  if (!Array.isArray(providers)) return [];
  const byId = new Map<string, Provider>();
  for (const provider of providers as Partial<Provider>[]) {
    const whole =
      /^[a-z0-9]+$/.test(provider.id ?? '') &&
      typeof provider.label === 'string' &&
      provider.settings?.properties !== undefined;
    if (whole && !byId.has(provider.id ?? '')) byId.set(provider.id ?? '', provider as Provider);
  }
  return [...byId.values()];
}
