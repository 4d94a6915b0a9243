import type { HooksApi } from '#plugin-api';
import { provider as azure } from './azure.provider.ts';
import { provider as claude } from './claude.provider.ts';
import { provider as deepseek } from './deepseek.provider.ts';
import { provider as google } from './google.provider.ts';
import { provider as ollama } from './ollama.provider.ts';
import { provider as openai } from './openai.provider.ts';
import { provider as openrouter } from './openrouter.provider.ts';
import { provider as xai } from './xai.provider.ts';
import { createOwnerWarnings, type WarningHooks } from '../kit/warn-owners.ts';
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

/** The providers of this folder, in the order of contract 4.2. Their modules do not load the vendors' SDKs. */
const own: readonly Provider[] = [openai, azure, google, openrouter, claude, deepseek, xai, ollama];

/** Reads the filter `svc_providers` at each call. */
export async function createProviderRegistry({
  hooks,
}: {
  readonly hooks: Pick<HooksApi, 'applyFilters'> & WarningHooks;
}): Promise<ProviderRegistry> {
  const warn = createOwnerWarnings(hooks, 'svc_providers');
  const ownById = new Map(own.map((provider) => [provider.id, provider]));
  /** Undefined if no filter changes the list. This is the common case, checked several times per request. */
  const changed = (): Provider[] | undefined => {
    const filtered = hooks.applyFilters('svc_providers', own);
    return filtered === own ? undefined : checked(filtered, warn);
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

/** A filter may return anything: takes complete providers, the first for each id, and warns about the others. */
function checked(providers: unknown, warn: (sentence: string) => void): Provider[] {
  if (!Array.isArray(providers)) {
    warn('the value is no array, so there are no providers.');
    return [];
  }
  const byId = new Map<string, Provider>();
  for (const provider of providers as (Partial<Provider> | null)[]) {
    const error = findError(provider, byId);
    if (error === null) byId.set(provider?.id ?? '', provider as Provider);
    else warn(`the provider '${String(provider?.id)}' is left out: ${error}`);
  }
  for (const { id } of own)
    if (byId.has(id) && !own.includes(byId.get(id) as Provider))
      warn(`the provider '${id}' replaces that of the service.`);
  return [...byId.values()];
}

function findError(provider: Partial<Provider> | null, byId: ReadonlyMap<string, Provider>): string | null {
  const { id, label, settings } = provider ?? {};
  if (typeof id !== 'string' || !/^[a-z0-9]+$/.test(id)) return 'its id must have lower-case letters and digits alone.';
  if (typeof label !== 'string') return 'it needs a label, which is its name for people.';
  if (settings?.properties === undefined) return `its settings need 'properties', as in a JSON Schema of an object.`;
  return byId.has(id) ? 'another provider before it has this id.' : null;
}
