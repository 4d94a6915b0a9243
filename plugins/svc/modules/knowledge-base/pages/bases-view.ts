import { missingSettings } from '../../../settings/configured.ts';
import type { KnowledgeBase } from '../bases/base-store.ts';
import { baseSchema } from '../bases/create-base.ts';
import { formatNumber, formFields, type Choice, type FieldErrors, type FormField } from '#plugin-api';
import type { KnowledgeParts } from '../knowledge.ts';
import type { SourceCounts } from '../sources/source.ts';
import { baseSlug, questionsSlug } from '../register.ts';

export type Typed = Readonly<Record<string, unknown>>;

interface EmbeddingChoice extends Choice {
  readonly model: string;
}

const none: SourceCounts = { pending: 0, indexing: 0, indexed: 0, failed: 0, deleting: 0, chunks: 0 };

/** The data of `svc/knowledge`: all knowledge bases, and the form for a new one with the submitted values. */
export async function basesView(
  parts: KnowledgeParts,
  refused: { readonly typed: Typed; readonly errors: FieldErrors } | null = null,
): Promise<Record<string, unknown>> {
  const { bases, sources, questions } = parts;
  const [all, counts, stores, providers, open] = await Promise.all([
    bases.list(),
    sources.counts(),
    storeChoices(parts),
    embeddingChoices(parts),
    questions.count({ state: 'open' }),
  ]);
  const { admin } = parts.host;
  return {
    bases: all.map((base) => baseCard(parts, base, counts.get(base.id) ?? none)),
    questions: open,
    questionsHref: admin.url(questionsSlug),
    canCreate: stores.length > 0 && providers.length > 0,
    missing: stores.length === 0 ? 'a vector store' : 'an embedding provider',
    setupHref: stores.length === 0 ? admin.url('svc/vector-stores') : admin.url('svc'),
    storesHref: admin.url('svc/vector-stores'),
    isRefused: refused !== null,
    fields: createFields({ stores, providers }, refused?.typed ?? {}, refused?.errors ?? {}),
  };
}

function baseCard(
  { host, vectorStores }: KnowledgeParts,
  base: KnowledgeBase,
  counts: SourceCounts,
): Record<string, unknown> {
  const waiting = counts.pending + counts.indexing;
  return {
    id: base.id,
    name: base.name,
    href: `${host.admin.url(baseSlug)}?id=${String(base.id)}`,
    location: `${vectorStores.get(base.store)?.label ?? base.store}: ${base.target}`,
    model: base.embeddingModel,
    indexed: counts.indexed,
    chunks: counts.chunks,
    waiting,
    failed: counts.failed,
    deleting: base.state === 'deleting',
    badge:
      base.state === 'deleting'
        ? { text: 'Deleting', kind: 'warning' }
        : counts.failed > 0
          ? { text: `${formatNumber(counts.failed)} failed`, kind: 'error' }
          : waiting > 0
            ? { text: `${formatNumber(waiting)} waiting`, kind: 'info' }
            : counts.indexed > 0
              ? { text: 'Ready', kind: 'success' }
              : { text: 'Empty', kind: 'info' },
  };
}

/** The configured vector stores. The first is chosen unless a person chooses another: one that is built in. */
export async function storeChoices({ vectorStores, vectorStoreSettings }: KnowledgeParts): Promise<readonly Choice[]> {
  const all = await Promise.all(
    vectorStores.all().map(async (store) => ({
      store,
      missing: missingSettings(store, await vectorStoreSettings.effective(store.id)),
    })),
  );
  return all
    .filter(({ missing }) => missing.length === 0)
    .sort((left, right) => Number(right.store.isBuiltIn === true) - Number(left.store.isBuiltIn === true))
    .map(({ store }) => ({ value: store.id, label: store.label }));
}

/** The configured providers of embeddings, with their saved models. */
async function embeddingChoices({ providers, settings }: KnowledgeParts): Promise<readonly EmbeddingChoice[]> {
  const all = await Promise.all(
    providers
      .all()
      .filter(({ embeddings }) => embeddings !== undefined)
      .map(async (provider) => ({ provider, saved: await settings.provider(provider.id) })),
  );
  return all
    .filter(({ provider, saved }) => missingSettings(provider, saved).length === 0)
    .map(({ provider, saved }) => ({
      value: provider.id,
      label: provider.label,
      model: typeof saved.embedding_model === 'string' ? saved.embedding_model : '',
    }));
}

function createFields(
  { stores, providers }: { readonly stores: readonly Choice[]; readonly providers: readonly EmbeddingChoice[] },
  values: Typed,
  errors: FieldErrors,
): Record<string, readonly FormField[]> {
  const hints = {
    name: { placeholder: 'Help pages' },
    store: { choices: stores },
    embeddingProvider: { choices: providers },
    embeddingModel: { placeholder: providers[0]?.model ?? '' },
    chunkTokens: { help: 'Texts are split at headings and sentences. 400 tokens are about 300 words.' },
  };
  const fields = (...paths: readonly string[]): FormField[] =>
    formFields(baseSchema, { values, errors, id: 'new', hints, paths });
  return {
    first: fields('name', 'store', 'target'),
    model: fields('embeddingProvider', 'embeddingModel'),
    more: fields('chunkTokens', 'overlapTokens', 'namespace'),
  };
}
