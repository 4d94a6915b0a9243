import type { SettingErrors } from '../field-errors.ts';
import type { KnowledgeBaseEntry, KnowledgeSettings } from './assistant-knowledge.ts';

/** The names that settings of assistants may contain now. */
export interface KnownNames {
  /** Ids of providers that generate text. */
  readonly textProviders: readonly string[];
  readonly embeddingProviders: readonly string[];
  readonly vectorStores: readonly string[];
  /** Ids. */
  readonly knowledgeBases: readonly number[];
}

/** Settings that name a provider and knowledge. */
export interface NamingSettings {
  readonly provider: string;
  readonly knowledge: KnowledgeSettings;
}

type Awaitable<Value> = Value | Promise<Value>;

/** The part of a provider that is needed for its name. */
interface NamedProvider {
  readonly id: string;
  readonly embeddings?: unknown;
}

/** The ports that the names come from. */
export interface NamesSource {
  readonly providers: { all(): Awaitable<readonly NamedProvider[]> };
  textProviderIds(): readonly string[];
  vectorStoreIds(): readonly string[];
  knowledgeBases(): Promise<readonly Pick<KnowledgeBaseEntry, 'id'>[]>;
}

/** The current names, including those of other plugins. */
export async function knownNames(source: NamesSource): Promise<KnownNames> {
  return {
    textProviders: source.textProviderIds(),
    embeddingProviders: (await source.providers.all())
      .filter(({ embeddings }) => embeddings !== undefined)
      .map(({ id }) => id),
    vectorStores: source.vectorStoreIds(),
    knowledgeBases: (await source.knowledgeBases()).map(({ id }) => id),
  };
}

/**
 * Errors of unknown names and incomplete knowledge settings, by the paths `provider` and `knowledge.<member>`.
 *
 * @param before the settings before a change. An unchanged provider or store that no longer exists is not an error.
 */
export function nameErrors(settings: NamingSettings, known: KnownNames, before: NamingSettings | null): SettingErrors {
  return { ...providerErrors(settings, known, before), ...knowledgeErrors(settings, known, before) };
}

function providerErrors(
  { provider }: NamingSettings,
  { textProviders }: KnownNames,
  before: NamingSettings | null,
): SettingErrors {
  if (textProviders.includes(provider) || before?.provider === provider) return {};
  return { provider: `provider must be one of ${textProviders.join(', ')}.` };
}

function knowledgeErrors(
  { knowledge }: NamingSettings,
  { vectorStores, embeddingProviders, knowledgeBases }: KnownNames,
  before: NamingSettings | null,
): SettingErrors {
  if (!knowledge.enabled) return {};
  const old = before?.knowledge.enabled === true ? before.knowledge : null;
  if (knowledge.base !== 0) {
    return knowledgeBases.includes(knowledge.base) || old?.base === knowledge.base
      ? {}
      : { 'knowledge.base': 'knowledge.base must be the id of a knowledge base, or 0 to use a vector store.' };
  }
  const errors: SettingErrors = {};
  const oneOf = (member: 'store' | 'embedding_provider', ids: readonly string[]): void => {
    if (ids.includes(knowledge[member]) || old?.[member] === knowledge[member]) return;
    errors[`knowledge.${member}`] = `knowledge.${member} must be one of ${ids.join(', ')} while knowledge is on.`;
  };
  oneOf('store', vectorStores);
  oneOf('embedding_provider', embeddingProviders);
  for (const member of ['target', 'embedding_model'] as const) {
    if (knowledge[member].trim() === '')
      errors[`knowledge.${member}`] = `knowledge.${member} must not be empty while knowledge is on.`;
  }
  return errors;
}
