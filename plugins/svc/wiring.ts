import { lazy, type HostApi } from '#plugin-api';
import type { AiServices } from './ai/ports.ts';
import type { Embed } from './ai/embed.ts';
import type { GenerateImages } from './ai/generate-images.ts';
import type { OpenStore } from './ai/open-vector-store.ts';
import type { SearchVectors } from './ai/search-vectors.ts';
import type { UpsertVectors } from './ai/upsert-vectors.ts';
import { routeProviderIds } from './ai/capable-provider.ts';
import { createBudgetStore } from './modules/budgets/budget-store.ts';
import { createBudgetGuard, withBudgetFallback } from './modules/budgets/guard/budget-guard.ts';
import { createFailoverStore } from './modules/failover/failover-store.ts';
import { createWithFailover } from './modules/failover/with-failover.ts';
import { priceOf } from './modules/usage/ledger/call-price.ts';
import { createUsageLedger } from './modules/usage/ledger/usage-ledger.ts';
import { createPriceStore } from './modules/usage/prices/price-store.ts';
import { createRecordUsage } from './modules/usage/record-usage.ts';
import { serviceEvents } from './events.ts';
import { createRateLimit } from './kit/rate-limit.ts';
import { requireApiKey } from './kit/require-api-key.ts';
import type {
  BudgetsPort,
  EmbeddingsPort,
  FailoverPort,
  HostPort,
  ImagesPort,
  KnowledgePort,
  PricesPort,
  ProvidersPort,
  SettingsPort,
  TextPort,
  UsagePort,
  VectorStoresPort,
} from './ports.ts';
import { createProviderRegistry, type ProviderRegistry } from './providers/registry.ts';
import { createVectorStoreSettings } from './settings/vector-store-settings.ts';
import { createVectorStoreRegistry } from './vector-stores/registry.ts';
import { createModelLists } from './settings/model-lists.ts';
import { createProviderTester } from './settings/provider-tester.ts';
import { createSettings } from './settings/settings.ts';
import { createWebhooks, type WebhookService } from './webhooks/create-webhooks.ts';
import { createDeliver } from './webhooks/delivery/deliver.ts';

/** Everything the modules work with. One per process. */
export interface ServiceContext
  extends
    HostPort,
    ProvidersPort,
    SettingsPort,
    TextPort,
    ImagesPort,
    EmbeddingsPort,
    VectorStoresPort,
    KnowledgePort,
    UsagePort,
    PricesPort,
    BudgetsPort,
    FailoverPort {
  readonly webhooks: WebhookService;
}

export async function createServices(host: HostApi): Promise<ServiceContext> {
  const registry = await createProviderRegistry({ hooks: host.hooks });
  const settings = createSettings({ host, providers: registry });
  const { options } = host;
  const prices = createPriceStore({ options });
  const budgets = createBudgetStore({ options });
  const failover = createFailoverStore({ options });
  const guard = createBudgetGuard({
    budgets: budgets.list,
    isFiltered: () => host.hooks.hasFilter('svc_budget_reserve') !== false,
    load: async () =>
      (await import('./modules/budgets/guard/budget-reservations.ts')).createBudgetReservations({
        host,
        budgets: budgets.list,
        costOf: async (usage) => (await ledger.price(usage)).cost,
        findPrice: prices.find,
      }),
  });
  const ledger = createUsageLedger({
    host,
    prices: prices.table,
    isSandbox: () => settings.sandbox.isOn(),
    onWrite: guard.onUsageWrite,
  });
  // The first registered is the last to run: calls that the other parts make while they stop are still stored.
  host.onStop(() => ledger.stop());
  const ai: AiServices = {
    registry,
    settings,
    host,
    recordUsage: createRecordUsage({ clock: host.clock, ledger, guard }),
    withFailover: createWithFailover({ host, failover }),
    withBudgetFallback,
  };
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
    prices,
    budgets,
    failover,
    costOf: async (usage) => ((await settings.sandbox.isOn()) ? 0 : priceOf(usage, await prices.table())),
    textProviderIds: () =>
      registry
        .all()
        .filter((provider) => provider.text)
        .map((provider) => provider.id),
    generateImages,
    editImages: lazy(async () => (await import('./ai/generate-images.ts')).createEditImages({ generateImages })),
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
      (await import('./modules/knowledge-base/find-knowledge.ts')).createFindKnowledge({ host, searchVectors }),
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
    import('./ai/embed.ts'),
  ]);
  return createUpsertVectors({
    openStore,
    embed,
    firstCall: (id, texts) =>
      embedBatches(texts, providers.get(id)?.embeddings?.limits ?? { inputs: 1 })[0]?.length ?? 0,
  });
}
