import { readdir } from 'node:fs/promises';
import type { HooksApi } from '#plugin-api';
import type { Provider } from './provider.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** The available providers. Add or remove some; ids must be unique. */
    svc_providers: (providers: readonly Provider[]) => readonly Provider[];
  }
}

/** All available providers: the files of this folder, then the filter `svc_providers`, applied at each call. */
export interface ProviderRegistry {
  all(): Provider[];
  get(id: string): Provider | undefined;
  /** Whether a provider comes from this folder rather than from a filter. */
  isOwn(provider: Provider): boolean;
}

/** The order of contract 4.2; others follow by name. */
const order = ['openai', 'azure', 'google', 'openrouter', 'claude', 'deepseek', 'xai', 'ollama'];

/** Imports every `<id>.provider.ts` of this folder, without the vendors' SDKs. */
export async function createProviderRegistry({
  hooks,
}: {
  readonly hooks: Pick<HooksApi, 'applyFilters'>;
}): Promise<ProviderRegistry> {
  const own = await loadProviders(import.meta.dirname);
  const ownById = new Map(own.map((provider) => [provider.id, provider]));
  /** Undefined if no filter changes the list. This is the common case, checked several times per request. */
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
  const names = (await readdir(directory))
    .filter((file) => file.endsWith('.provider.ts'))
    .map((file) => file.slice(0, -12));
  const modules = await Promise.all(
    // From this form of the path the compiler sees which files belong to the service.
    names.map((name) => import(`./${name}.provider.ts`) as Promise<{ provider: Provider }>),
  );
  return modules
    .map(({ provider }) => provider)
    .sort((left, right) => rank(left.id) - rank(right.id) || left.id.localeCompare(right.id));
}

function rank(id: string): number {
  const position = order.indexOf(id);
  return position < 0 ? order.length : position;
}

/** A filter may return anything: keeps complete providers, the first for each id. */
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
