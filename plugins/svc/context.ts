import type { HostApi } from '#plugin-api';
import type { AiServices } from './ai/ai-services.ts';
import { createGenerateText, type GenerateText } from './ai/generate-text.ts';
import { createTestProvider } from './ai/test-provider.ts';
import { createRateLimit } from './kit/rate-limit.ts';
import { requireApiKey, type KeyedRequest } from './kit/require-api-key.ts';
import type { Provider } from './providers/provider.ts';
import { createProviderRegistry } from './providers/registry.ts';
import type { SettingsContext } from './settings/settings-context.ts';
import { createProviderTester } from './settings/provider-tester.ts';
import { createSettings } from './settings/settings.ts';

/** All that the service's modules work with. One per process, made when the plugin registers. */
export interface ServiceContext extends SettingsContext {
  /** The providers there are at registration, whose settings make the flags of commands. */
  readonly knownProviders: readonly Provider[];
  readonly generateText: GenerateText;
  /** Ids of the providers that generate text at this moment, those of other plugins included. */
  textProviderIds(): readonly string[];
  /** Checks the REST key, then counts the call; both before parameters are looked at (D2). */
  authenticate(request: KeyedRequest): Promise<void>;
}

export async function createContext(host: HostApi): Promise<ServiceContext> {
  const registry = await createProviderRegistry({ hooks: host.hooks });
  const settings = createSettings({ host, providers: registry });
  const ai: AiServices = { registry, settings, host };
  const checkKey = requireApiKey(settings.restKey);
  const countCall = createRateLimit({
    database: host.database,
    clock: host.clock,
    perMinute: async () => (await settings.limits()).requests_per_minute,
  });
  return {
    host,
    settings,
    providers: registry,
    knownProviders: registry.all(),
    tester: createProviderTester({ probe: createTestProvider(ai), options: host.options }),
    generateText: createGenerateText(ai),
    textProviderIds: () => registry.all().filter((provider) => provider.text).map((provider) => provider.id),
    async authenticate(request) {
      await checkKey(request);
      await countCall();
    },
  };
}
