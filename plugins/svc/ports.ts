import type { HostApi, RestRequest } from '#plugin-api';
import type { EditImages } from './ai/generate-images.ts';
import type { CountInput } from './ai/count-input.ts';
import type { Embed } from './ai/embed.ts';
import type { FindKnowledge, KnowledgeBaseEntry } from './kit/assistants/assistant-knowledge.ts';
import type { GenerateImages } from './ai/generate-images.ts';
import type { GenerateVideos } from './ai/generate-videos.ts';
import type { GenerateText } from './ai/generate-text.ts';
import type { OpenStore } from './ai/open-vector-store.ts';
import type { SearchVectors } from './ai/search-vectors.ts';
import type { TestVectorStore } from './ai/test-vector-store.ts';
import type { UpsertVectors } from './ai/upsert-vectors.ts';
import type { BotReplies } from './modules/chatbots/bot-replies.ts';
import type { BudgetStore } from './modules/budgets/budget-store.ts';
import type { FailoverStore } from './modules/failover/failover-store.ts';
import type { PricedUsage } from './modules/usage/ledger/call-price.ts';
import type { UsageLedger } from './modules/usage/ledger/usage-ledger.ts';
import type { PriceStore } from './modules/usage/prices/price-store.ts';
import type { Caller, KeyRoute } from './kit/caller.ts';
import type { Explanation } from './kit/dry-run.ts';
import type { ExplainKey } from './modules/keys/explain.ts';
import type { NamedKey } from './modules/keys/named-key.ts';
import type { KeyedRequest } from './kit/require-api-key.ts';
import type { Provider } from './providers/provider.ts';
import type { ProviderRegistry } from './providers/registry.ts';
import type { ProviderTester } from './settings/provider-tester.ts';
import type { Settings } from './settings/settings.ts';
import type { VectorStoreSettingsStore } from './settings/vector-store-settings.ts';
import type { VectorStoreRegistry } from './vector-stores/registry.ts';
import type { VectorStore } from './vector-stores/vector-store.ts';

export type { PricedUsage };
export type { UsageRow } from './modules/usage/ledger/usage-tables.ts';
export type { UsageCounter, UsageWrite } from './modules/usage/ledger/usage-store.ts';

/*
 * What modules may ask of the rest of the service. A module names the ports it uses; `wiring.ts` connects them, once per
 * process, when the plugin registers.
 */

/** The host, and the check of keys: what every module gets. */
export interface HostPort {
  readonly host: HostApi;
  /**
   * Checks the REST key or a named key and that it allows the route, then counts the call; before parameters are validated
   * (D2, D31). `callerOf(request)` returns the caller afterwards; pass it on as `origin.caller`.
   *
   * @throws RestError 401, 403 `rest_svc_key_out_of_scope`, or 429
   */
  authenticateCaller(request: KeyedRequest, route: KeyRoute): Promise<Caller>;
  /** What a request of an administrator with `?dry_run=1` would be allowed (D31). */
  explainRequest(request: RestRequest, route: KeyRoute): Promise<Explanation>;
  /** Whether header or query hold the key, before the body is read. */
  findKey(request: KeyedRequest, route: KeyRoute): Promise<true | undefined>;
}

export interface ExplainPort {
  /** What a key would be allowed (D31), without a request. */
  readonly explainKey: ExplainKey;
}

export interface KeysPort {
  /** The named keys by name, revoked ones last. */
  namedKeys(): Promise<readonly Pick<NamedKey, 'id' | 'name' | 'revokedAt'>[]>;
}

export interface ProvidersPort {
  readonly providers: ProviderRegistry;
  /** The providers at registration; their settings define the flags of commands. */
  readonly knownProviders: readonly Provider[];
}

export interface SettingsPort {
  readonly settings: Settings;
  readonly tester: ProviderTester;
}

export interface TextPort {
  readonly generateText: GenerateText;
  /** Tokens of the input of such a text, without a call for it. */
  readonly countInput: CountInput;
  /** Ids of the providers that generate text now, those of other plugins included. */
  textProviderIds(): readonly string[];
}

export interface ImagesPort {
  readonly generateImages: GenerateImages;
  readonly editImages: EditImages;
  /** Videos of a provider that generates them. */
  readonly generateVideos: GenerateVideos;
  /** Ids that `POST /images/generate` accepts now (contract 4.3): three, and those of other plugins. */
  imageProviderIds(): readonly string[];
}

export interface EmbeddingsPort {
  readonly embed: Embed;
  /** Ids that `POST /embeddings` accepts now (contract 4.4): four, and those of other plugins. */
  embeddingProviderIds(): readonly string[];
}

export interface VectorStoresPort {
  readonly vectorStores: VectorStoreRegistry;
  /** The vector stores at registration; their settings define the flags of commands. */
  readonly knownVectorStores: readonly VectorStore[];
  readonly vectorStoreSettings: VectorStoreSettingsStore;
  /** Ids of the vector stores now, those of other plugins included. */
  vectorStoreIds(): readonly string[];
  /** A store by its id, with everything it can do. */
  readonly openVectorStore: OpenStore;
  readonly testVectorStore: TestVectorStore;
  readonly upsertVectors: UpsertVectors;
  readonly searchVectors: SearchVectors;
}

export interface BotsPort {
  /** The chatbots by name, and their replies to conversations that are not stored. */
  readonly botReplies: BotReplies;
}

export interface KnowledgePort {
  /** The passages of a knowledge base, or of any index or collection, that match a question. */
  readonly findKnowledge: FindKnowledge;
  /** The knowledge bases to choose from, by name. */
  knowledgeBases(): Promise<readonly KnowledgeBaseEntry[]>;
}

export interface UsagePort {
  /** Records every call to a provider. */
  readonly ledger: UsageLedger;
  /**
   * Cost of a call at today's prices, in millionths of a US dollar: 0 in sandbox mode, null without a known price.
   * Before a call, pass counted or estimated tokens.
   */
  readonly costOf: (usage: PricedUsage) => Promise<number | null>;
}

export interface PricesPort {
  readonly prices: PriceStore;
}

export interface BudgetsPort {
  readonly budgets: BudgetStore;
}

export interface FailoverPort {
  readonly failover: FailoverStore;
}
