import { lazy, lazyValue, type HostApi } from '#plugin-api';
import type { AiServices } from './ai/ports.ts';
import type { Embed } from './ai/embed.ts';
import type { GenerateImages } from './ai/generate-images.ts';
import type { OpenStore } from './ai/open-vector-store.ts';
import { createUpstreamHttp, type UpstreamHttp } from './ai/upstream-http.ts';
import { routeProviderIds } from './ai/capable-provider.ts';
import { createBudgetStore } from './modules/budgets/budget-store.ts';
import { createBudgetGuard, withBudgetFallback } from './modules/budgets/guard/budget-guard.ts';
import { createFailoverStore } from './modules/failover/failover-store.ts';
import { createWithFailover } from './modules/failover/with-failover.ts';
import { priceOf } from './modules/usage/ledger/call-price.ts';
import { createUsageLedger } from './modules/usage/ledger/usage-ledger.ts';
import { createUsageSpool } from './modules/usage/ledger/usage-spool.ts';
import { createPriceStore } from './modules/usage/prices/price-store.ts';
import { createRecordUsage } from './modules/usage/record-usage.ts';
import { serviceEvents } from './events.ts';
import { createRateLimit } from './kit/rate-limit.ts';
import { requireScopes, restKeyCaller, setCaller, type Caller } from './kit/caller.ts';
import { currentDryRun } from './kit/dry-run.ts';
import { errors } from './kit/errors.ts';
import { lazyMethods } from './kit/lazy.ts';
import { findApiKey, requireApiKey } from './kit/require-api-key.ts';
import type { Explain } from './modules/keys/explain.ts';
import type { BotReplies } from './modules/chatbots/bot-replies.ts';
import type {
  BotsPort,
  BudgetsPort,
  EmbeddingsPort,
  ExplainPort,
  FailoverPort,
  HostPort,
  ImagesPort,
  KeysPort,
  KnowledgePort,
  PricesPort,
  ProvidersPort,
  SettingsPort,
  TextPort,
  UsagePort,
  VectorStoresPort,
} from './ports.ts';
import { createProviderFactory } from './providers/compatible-provider.ts';
import { createProviderRegistry, type ProviderRegistry } from './providers/registry.ts';
import { createVectorStoreSettings } from './settings/vector-store-settings.ts';
import { createVectorStoreRegistry } from './vector-stores/registry.ts';
import { createModelLists } from './settings/model-lists.ts';
import { createProviderTester } from './settings/provider-tester.ts';
import { createSettings, type Settings } from './settings/settings.ts';
import { createWebhooks, type WebhookService } from './webhooks/create-webhooks.ts';

/** All ports of the service, connected once per process. */
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
    BotsPort,
    UsagePort,
    PricesPort,
    BudgetsPort,
    FailoverPort,
    KeysPort,
    ExplainPort {
  readonly webhooks: WebhookService;
}

export async function createServices(host: HostApi): Promise<ServiceContext> {
  const providers = createProviderRegistry({ hooks: host.hooks });
  host.services.provide('svc.providers', createProviderFactory());
  const settings = createSettings({ host, providers });
  const upstream = createUpstreamHttp(host);
  const { ai, ...accounts } = createAccounts({ host, settings, providers, upstream });
  const generateImages: GenerateImages = lazy(async () =>
    (await import('./ai/generate-images.ts')).createGenerateImages({ ...ai, host }),
  );
  const embed: Embed = lazy(async () => (await import('./ai/embed.ts')).createEmbed(ai));
  const vectors = await createVectorServices({ host, embed, providers, upstream });
  const context: Omit<ServiceContext, 'botReplies'> = {
    host,
    settings,
    providers,
    knownProviders: providers.all(),
    tester: createProviderTester({
      probe: lazy(async () => (await import('./ai/test-provider.ts')).createTestProvider(ai)),
      lists: createModelLists(host),
    }),
    ...accounts,
    generateText: lazy(async () => (await import('./ai/generate-text.ts')).createGenerateText(ai)),
    countInput: lazy(async () => (await import('./ai/count-input.ts')).createCountInput(ai)),
    textProviderIds: () =>
      providers
        .all()
        .filter((provider) => provider.text)
        .map((provider) => provider.id),
    generateImages,
    editImages: lazy(async () => (await import('./ai/generate-images.ts')).createEditImages({ generateImages })),
    generateVideos: lazy(async () => (await import('./ai/generate-videos.ts')).createGenerateVideos({ ...ai, host })),
    imageProviderIds: () =>
      routeProviderIds(providers, { capability: 'images', contract: ['openai', 'azure', 'google'] }),
    embed,
    embeddingProviderIds: () =>
      routeProviderIds(providers, { capability: 'embeddings', contract: ['openai', 'google', 'azure', 'openrouter'] }),
    ...vectors,
    findKnowledge: lazy(async () =>
      (await import('./modules/knowledge-base/find-knowledge.ts')).createFindKnowledge({ host, ...vectors }),
    ),
    knowledgeBases: () => host.hooks.applyFiltersAsync('svc_knowledge_bases', []),
    webhooks: createWebhooks({
      host,
      events: serviceEvents,
      deliver: lazy(async () => (await import('./webhooks/delivery/deliver.ts')).createDeliver(host)),
    }),
    ...createKeyChecks({ host, settings }),
    namedKeys: lazy(async () => (await import('./modules/keys/key-store.ts')).createKeyStore(host).list),
    ...createDryRuns(async () => (await import('./modules/keys/explain.ts')).createExplain(context)),
  };
  const botReplies: BotReplies = lazyMethods(
    async () => (await import('./modules/chatbots/bot-replies.ts')).createBotReplies(context),
    ['list', 'reply'],
  );
  return { ...context, botReplies };
}

/** Dry runs of requests and of keys (D31), loaded by the first. */
function createDryRuns(load: () => Promise<Explain>): Pick<HostPort, 'explainRequest'> & ExplainPort {
  const loaded = lazyValue(load);
  return {
    explainRequest: async (request, route) => (await loaded()).request(request, route),
    explainKey: async (init) => (await loaded()).key(init),
  };
}

interface AccountParts {
  readonly host: HostApi;
  readonly settings: Settings;
  readonly providers: ProviderRegistry;
  readonly upstream: UpstreamHttp;
}

/** What calls to providers are checked against and recorded in, and the parts that every call uses. */
function createAccounts({
  host,
  settings,
  providers,
  upstream,
}: AccountParts): UsagePort & PricesPort & BudgetsPort & FailoverPort & { readonly ai: AiServices } {
  const { options } = host;
  const prices = createPriceStore({ options, clock: host.clock });
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
    counter: guard.counter,
    spool: createUsageSpool(host),
  });
  host.hooks.addAction('host_started', () => ledger.restore());
  if (host.hooks.didAction('host_started') > 0) void ledger.restore();
  // Not awaited: a long stream would hold up the stop.
  host.onStop(() => void upstream.close());
  // The first registered is the last to run: calls that the other parts make while they stop are still stored.
  host.onStop(() => ledger.stop());
  return {
    ledger,
    prices,
    budgets,
    failover,
    costOf: async (usage) =>
      (await settings.sandbox.isOn()) ? 0 : priceOf(usage, await prices.table(), host.clock.now()),
    ai: {
      registry: providers,
      settings,
      host,
      upstream,
      recordUsage: createRecordUsage({
        clock: host.clock,
        log: host.log,
        ledger,
        guard,
        traces: host.traces,
        rolesOf: async (userId) => (await host.users.get(userId))?.roles ?? [],
      }),
      withFailover: createWithFailover({ host, failover }),
      withBudgetFallback,
    },
  };
}

interface VectorParts {
  readonly host: HostApi;
  readonly embed: Embed;
  readonly providers: ProviderRegistry;
  readonly upstream: UpstreamHttp;
}

async function createVectorServices({ host, embed, providers, upstream }: VectorParts): Promise<VectorStoresPort> {
  const stores = createVectorStoreRegistry({ hooks: host.hooks });
  const vectorStoreSettings = createVectorStoreSettings({ host, stores });
  const openStore: OpenStore = lazy(async () =>
    (await import('./ai/open-vector-store.ts')).createOpenStore({
      stores,
      storeSettings: vectorStoreSettings,
      host,
      upstream,
    }),
  );
  return {
    vectorStores: stores,
    knownVectorStores: stores.all(),
    vectorStoreSettings,
    vectorStoreIds: () => stores.all().map(({ id }) => id),
    openVectorStore: openStore,
    testVectorStore: lazy(async () =>
      (await import('./ai/test-vector-store.ts')).createTestVectorStore({
        stores,
        openStore,
        now: () => host.clock.now(),
      }),
    ),
    upsertVectors: lazy(async () => {
      const { createUpsertVectors } = await import('./ai/upsert-vectors.ts');
      const { embedBatches } = await import('./ai/embed.ts');
      const limitsOf = (id: string) => providers.get(id)?.embeddings?.limits ?? { inputs: 1 };
      return createUpsertVectors({
        openStore,
        embed,
        firstCall: (id, texts) => embedBatches(texts, limitsOf(id))[0]?.length ?? 0,
      });
    }),
    searchVectors: lazy(async () => (await import('./ai/search-vectors.ts')).createSearchVectors({ openStore, embed })),
  };
}

/** Checks the key and its scopes, then counts the call (D2, D31). Named keys load their code when the first is used. */
function createKeyChecks({
  host,
  settings,
}: {
  readonly host: HostApi;
  readonly settings: Settings;
}): Pick<HostPort, 'authenticateCaller' | 'findKey'> {
  const named = lazyMethods(
    async () => (await import('./modules/keys/key-access.ts')).createKeyAccess(host),
    ['find', 'findById', 'count'],
  );
  const checkKey = requireApiKey(settings.restKey, named.find);
  /** Dry runs name a key without its secret. */
  async function checkKeyById(id: number): Promise<Caller> {
    const caller =
      id > 0 ? await named.findById(id) : (await settings.restKey.digest()) === null ? null : restKeyCaller;
    if (caller === null) throw errors.invalid_api_key();
    return caller;
  }
  const countCall = createRateLimit({
    database: host.database,
    clock: host.clock,
    perMinute: async () => (await settings.limits()).requests_per_minute,
  });
  return {
    findKey: findApiKey(settings.restKey, named.find),
    async authenticateCaller(request, route) {
      const dryRun = currentDryRun();
      const caller = dryRun?.keyId === undefined ? await checkKey(request, route) : await checkKeyById(dryRun.keyId);
      if (dryRun !== undefined) dryRun.caller = caller;
      requireScopes(caller, { route });
      await countCall();
      if (dryRun !== undefined) dryRun.limit = 'key';
      if (caller.kind === 'named-key') await named.count(caller);
      setCaller(request, caller);
      return caller;
    },
  };
}
