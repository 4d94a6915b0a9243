import { provider as azure } from './azure.provider.ts';
import { provider as claude } from './claude.provider.ts';
import { provider as deepseek } from './deepseek.provider.ts';
import { provider as google } from './google.provider.ts';
import { provider as ollama } from './ollama.provider.ts';
import { provider as openai } from './openai.provider.ts';
import { provider as openrouter } from './openrouter.provider.ts';
import { provider as xai } from './xai.provider.ts';
import { createRegistry, type Registry, type RegistryInit } from '../kit/registry.ts';
import type { Provider } from './provider.ts';

declare module '#plugin-api' {
  interface SyncFilterMap {
    /** The available providers. Add or remove some; ids must be unique. */
    svc_providers: (providers: readonly Provider[]) => readonly Provider[];
  }
}

/** All available providers: the files of this folder, then the filter `svc_providers`, applied at each call. */
export type ProviderRegistry = Registry<Provider>;

/** The providers of this folder, in the order of contract 4.2. Their modules do not load the vendors' SDKs. */
const own: readonly Provider[] = [openai, azure, google, openrouter, claude, deepseek, xai, ollama];

/** Reads the filter `svc_providers` at each call. */
export function createProviderRegistry({ hooks }: Pick<RegistryInit<Provider>, 'hooks'>): ProviderRegistry {
  return createRegistry({ hooks, filter: 'svc_providers', noun: 'provider', own });
}
