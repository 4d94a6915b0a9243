import type { ServiceContext } from '../../../wiring.ts';
import { missingSettings } from '../../../settings/configured.ts';
import type { FieldErrors } from '../../../kit/field-errors.ts';
import { defaultChunks, type KnowledgeBase } from '../bases/base.ts';
import { knowledgeOf } from '../knowledge.ts';
import type { SourceCounts } from '../sources/source.ts';
import { baseSlug, questionsSlug } from './slugs.ts';

export type Typed = Readonly<Record<string, unknown>>;

interface Choice {
  readonly value: string;
  readonly label: string;
}

const none: SourceCounts = { pending: 0, indexing: 0, indexed: 0, failed: 0, deleting: 0, chunks: 0 };

/** The data of `svc/knowledge`: all knowledge bases, and the form for a new one with what was typed into it. */
export async function basesView(
  context: ServiceContext,
  refused: { readonly typed: Typed; readonly errors: FieldErrors } | null = null,
): Promise<Record<string, unknown>> {
  const { bases, sources, questions } = knowledgeOf(context);
  const [all, counts, stores, providers, open] = await Promise.all([
    bases.list(),
    sources.counts(),
    storeChoices(context),
    embeddingChoices(context),
    questions.count({ state: 'open' }),
  ]);
  const { admin } = context.host;
  return {
    bases: all.map((base) => baseCard(context, base, counts.get(base.id) ?? none)),
    questions: open,
    questionsHref: admin.url(questionsSlug),
    canCreate: stores.length > 0 && providers.length > 0,
    missing: stores.length === 0 ? 'vector store' : 'embedding provider',
    setupHref: stores.length === 0 ? admin.url('svc/vector-stores') : admin.url('svc'),
    storesHref: admin.url('svc/vector-stores'),
    isRefused: refused !== null,
    fields: createFields({ stores, providers }, refused?.typed ?? {}, refused?.errors ?? {}),
  };
}

function baseCard(
  { host, vectorStores }: ServiceContext,
  base: KnowledgeBase,
  counts: SourceCounts,
): Record<string, unknown> {
  const waiting = counts.pending + counts.indexing;
  return {
    id: base.id,
    name: base.name,
    href: `${host.admin.url(baseSlug)}?id=${String(base.id)}`,
    place: `${vectorStores.get(base.store)?.label ?? base.store}: ${base.target}`,
    model: base.embeddingModel,
    indexed: counts.indexed,
    chunks: counts.chunks,
    waiting,
    failed: counts.failed,
    deleting: base.state === 'deleting',
    badge:
      base.state === 'deleting'
        ? { text: 'being deleted', kind: 'warning' }
        : counts.failed > 0
          ? { text: `${String(counts.failed)} failed`, kind: 'error' }
          : waiting > 0
            ? { text: `${String(waiting)} waiting`, kind: 'info' }
            : counts.indexed > 0
              ? { text: 'ready', kind: 'success' }
              : { text: 'empty', kind: 'info' },
  };
}

/** Vector stores that are set up. */
export async function storeChoices({ vectorStores, vectorStoreSettings }: ServiceContext): Promise<readonly Choice[]> {
  const all = await Promise.all(
    vectorStores.all().map(async (store) => ({
      store,
      missing: missingSettings(store, await vectorStoreSettings.effective(store.id)),
    })),
  );
  return all
    .filter(({ missing }) => missing.length === 0)
    .map(({ store }) => ({ value: store.id, label: store.label }));
}

/** Providers of embeddings that are set up, with the model that is saved for them. */
async function embeddingChoices({
  providers,
  settings,
}: ServiceContext): Promise<readonly (Choice & { readonly model: string })[]> {
  const all = await Promise.all(
    (await providers.all())
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
  {
    stores,
    providers,
  }: { readonly stores: readonly Choice[]; readonly providers: readonly (Choice & { readonly model: string })[] },
  typed: Typed,
  errors: FieldErrors,
): Record<string, unknown> {
  const field = (name: string, init: Readonly<Record<string, unknown>>) => ({
    id: `new-${name}`,
    name,
    value: typed[name] ?? init['fallback'] ?? '',
    ...(errors[name] !== undefined && { error: errors[name] }),
    ...init,
  });
  return {
    first: [
      field('name', { type: 'text', label: 'Name', required: true, maxlength: 200, placeholder: 'Help pages' }),
      field('store', { type: 'select', label: 'Vector store', options: stores }),
      field('target', {
        type: 'text',
        label: 'Index or collection',
        mono: true,
        required: true,
        placeholder: 'help-pages',
        help: "One of its own. It is made where there is none, with the length of the model's vectors.",
      }),
    ],
    model: [
      field('embeddingProvider', { type: 'select', label: 'Embedding provider', options: providers }),
      field('embeddingModel', {
        type: 'text',
        label: 'Embedding model',
        mono: true,
        placeholder: providers[0]?.model ?? '',
        help: 'Empty: the saved one of the provider. It cannot be changed later: questions must be embedded as the texts were.',
      }),
    ],
    more: [
      field('chunkTokens', {
        type: 'number',
        label: 'Tokens of a passage, at most',
        min: 50,
        max: 8000,
        step: 1,
        short: true,
        fallback: defaultChunks.chunkTokens,
        help: 'Texts are cut along headings and sentences. 400 are about 300 words.',
      }),
      field('overlapTokens', {
        type: 'number',
        label: 'Tokens repeated in the next passage',
        min: 0,
        max: 4000,
        step: 1,
        short: true,
        fallback: defaultChunks.overlapTokens,
      }),
      field('namespace', {
        type: 'text',
        label: 'Namespace',
        mono: true,
        help: 'Of Pinecone; empty for the default one.',
      }),
    ],
  };
}
