import { lazy, type HostApi } from '#plugin-api';
import type { AiServices } from './ai/ai-services.ts';
import type { EditImages } from './ai/edit-images.ts';
import type { Embed } from './ai/embed.ts';
import type { FindKnowledge } from './ai/find-knowledge.ts';
import type { GenerateImages } from './ai/generate-images.ts';
import type { KnowledgeBaseEntry } from './ai/knowledge-hooks.ts';
import type { OpenStore } from './ai/open-vector-store.ts';
import type { SearchVectors } from './ai/search-vectors.ts';
import type { TestVectorStore } from './ai/test-vector-store.ts';
import type { UpsertVectors } from './ai/upsert-vectors.ts';
import type { GenerateText } from './ai/generate-text.ts';
import { routeProviderIds } from './ai/route-providers.ts';
import { createFuseGate } from './ai/budgets/fuse.ts';
import { priceOf, type PricedUsage } from './ai/usage-ledger/price-of.ts';
import { createUsageLedger, type StoringLedger } from './ai/usage-ledger/usage-ledger.ts';
import { serviceEvents } from './events.ts';
import { createRateLimit } from './kit/rate-limit.ts';
import { requireApiKey, type KeyedRequest } from './kit/require-api-key.ts';
import type { Provider } from './providers/provider.ts';
import { createProviderRegistry, type ProviderRegistry } from './providers/registry.ts';
import { createVectorStoreSettings, type VectorStoreSettingsStore } from './settings/vector-store-settings.ts';
import { createVectorStoreRegistry, type VectorStoreRegistry } from './vector-stores/registry.ts';
import type { VectorStore } from './vector-stores/vector-store.ts';
import type { SettingsContext } from './settings/settings-context.ts';
import { createModelLists } from './settings/models/model-lists.ts';
import { createProviderTester } from './settings/provider-tester.ts';
import { createSettings } from './settings/settings.ts';
import { createWebhooks, type WebhookService } from './webhooks/create-webhooks.ts';
import { createDeliver } from './webhooks/delivery/deliver.ts';

/** All that the service's modules work with. One per process, made when the plugin registers. */
export interface ServiceContext extends SettingsContext {
  /** The providers there are at registration, whose settings make the flags of commands. */
  readonly knownProviders: readonly Provider[];
  readonly generateText: GenerateText;
  /** What a call costs by the prices of now, in millionths of a US dollar; 0 while the sandbox answers, null when no price is known. Before a call: with tokens that were counted or guessed. */
  readonly costOf: (usage: PricedUsage) => Promise<number | null>;
  /** Takes note of every call to a provider. */
  readonly ledger: StoringLedger;
  /** Ids of the providers that generate text at this moment, those of other plugins included. */
  textProviderIds(): readonly string[];
  readonly generateImages: GenerateImages;
  readonly editImages: EditImages;
  /** Ids that `POST /images/generate` takes at this moment (contract 4.3): three, and those of other plugins. */
  imageProviderIds(): readonly string[];
  readonly embed: Embed;
  /** Ids that `POST /embeddings` takes at this moment (contract 4.4): four, and those of other plugins. */
  embeddingProviderIds(): readonly string[];
  readonly vectorStores: VectorStoreRegistry;
  /** The vector stores there are at registration, whose settings make the flags of commands. */
  readonly knownVectorStores: readonly VectorStore[];
  readonly vectorStoreSettings: VectorStoreSettingsStore;
  /** A store by its id, for all it can do; texts go in and are found by the two that follow. */
  readonly openVectorStore: OpenStore;
  readonly testVectorStore: TestVectorStore;
  readonly upsertVectors: UpsertVectors;
  readonly searchVectors: SearchVectors;
  /** The texts of a knowledge base, or of any index or collection, that fit a question. */
  readonly findKnowledge: FindKnowledge;
  /** Those to choose from, by name. */
  knowledgeBases(): Promise<readonly KnowledgeBaseEntry[]>;
  /** Ids of the vector stores at this moment, those of other plugins included. */
  vectorStoreIds(): readonly string[];
  readonly webhooks: WebhookService;
  /** Checks the REST key, then counts the call; both before parameters are looked at (D2). */
  authenticate(request: KeyedRequest): Promise<void>;
}

export async function createContext(host: HostApi): Promise<ServiceContext> {
  const registry = await createProviderRegistry({ hooks: host.hooks });
  const settings = createSettings({ host, providers: registry });
  const fuse = createFuseGate({
    budgets: () => settings.budgets.list(),
    isWatched: () => host.hooks.hasFilter('svc_budget_reserve') !== false,
    load: async () =>
      (await import('./ai/budgets/spend-fuse.ts')).createSpendFuse({
        host,
        budgets: () => settings.budgets.list(),
        cost: async (usage) => (await ledger.price(usage)).cost,
      }),
  });
  const ledger = createUsageLedger({
    host,
    prices: () => settings.prices.table(),
    isSandbox: () => settings.sandbox.isOn(),
    onCounted: fuse.counted,
  });
  // The first to be registered is the last to run: whatever the other parts still note while they stop is stored.
  host.onStop(() => ledger.stop());
  const ai: AiServices = { registry, settings, host, ledger, fuse };
  const stores = await createVectorStoreRegistry({ hooks: host.hooks });
  const vectorStoreSettings = createVectorStoreSettings({ host, stores });
  const openVectorStore: OpenStore = lazy(async () =>
    (await import('./ai/open-vector-store.ts')).createOpenStore({ stores, storeSettings: vectorStoreSettings, host }),
  );
  const generateImages: GenerateImages = lazy(async () =>
    (await import('./ai/generate-images.ts')).createGenerateImages({ ...ai, host }),
  );
  const embed: Embed = lazy(async () => (await import('./ai/embed.ts')).createEmbed(ai));
  const searchVectors: SearchVectors = lazy(async () =>
    (await import('./ai/search-vectors.ts')).createSearchVectors({ openStore: openVectorStore, embed }),
  );
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
    tester: createProviderTester({
      probe: lazy(async () => (await import('./ai/test-provider.ts')).createTestProvider(ai)),
      lists: createModelLists(host),
    }),
    generateText: lazy(async () => (await import('./ai/generate-text.ts')).createGenerateText(ai)),
    ledger,
    costOf: async (usage) => ((await settings.sandbox.isOn()) ? 0 : priceOf(usage, await settings.prices.table())),
    textProviderIds: () =>
      registry
        .all()
        .filter((provider) => provider.text)
        .map((provider) => provider.id),
    generateImages,
    editImages: lazy(async () => (await import('./ai/edit-images.ts')).createEditImages({ generateImages })),
    imageProviderIds: () =>
      routeProviderIds(registry, { capability: 'images', contract: ['openai', 'azure', 'google'] }),
    embed,
    embeddingProviderIds: () =>
      routeProviderIds(registry, { capability: 'embeddings', contract: ['openai', 'google', 'azure', 'openrouter'] }),
    vectorStores: stores,
    knownVectorStores: stores.all(),
    vectorStoreSettings,
    openVectorStore,
    testVectorStore: lazy(async () =>
      (await import('./ai/test-vector-store.ts')).createTestVectorStore({
        stores,
        openStore: openVectorStore,
        now: () => host.clock.now(),
      }),
    ),
    upsertVectors: lazy(() => loadUpsert({ openStore: openVectorStore, embed, providers: registry })),
    searchVectors,
    findKnowledge: lazy(async () =>
      (await import('./ai/find-knowledge.ts')).createFindKnowledge({ host, searchVectors }),
    ),
    knowledgeBases: () => host.hooks.applyFiltersAsync('svc_knowledge_bases', []),
    vectorStoreIds: () => stores.all().map(({ id }) => id),
    webhooks: await createWebhooks({
      host,
      events: serviceEvents,
      deliver: createDeliver({ http: host.http, clock: host.clock }),
    }),
    async authenticate(request) {
      await checkKey(request);
      await countCall();
    },
  };
}

async function loadUpsert({
  openStore,
  embed,
  providers,
}: {
  readonly openStore: OpenStore;
  readonly embed: Embed;
  readonly providers: ProviderRegistry;
}): Promise<UpsertVectors> {
  const [{ createUpsertVectors }, { embedBatches }] = await Promise.all([
    import('./ai/upsert-vectors.ts'),
    import('./ai/embed-batches.ts'),
  ]);
  return createUpsertVectors({
    openStore,
    embed,
    firstCall: (id, texts) =>
      embedBatches(texts, providers.get(id)?.embeddings?.limits ?? { inputs: 1 })[0]?.length ?? 0,
  });
}
