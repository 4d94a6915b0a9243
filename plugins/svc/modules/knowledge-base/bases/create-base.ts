import { invalidFields, type JsonSchema } from '#plugin-api';
import { type SettingErrors } from '../../../kit/field-errors.ts';
import { missingSettings } from '../../../settings/configured.ts';
import type { KnowledgeParts } from '../knowledge.ts';
import type { BaseChanges, KnowledgeBase, NewBase } from './base-store.ts';
import { defaultChunks } from './base-store.ts';

/** Fields of a new knowledge base as submitted. */
export type TypedBase = { readonly [Name in keyof NewBase]?: NewBase[Name] | string };

const limits = { name: 200, target: 512, namespace: 512, model: 200 } as const;
const chunkTokenLimits = { min: 50, max: 8_000 } as const;

/** What a form shows of a knowledge base. The vector store and the model are chosen when it is created. */
export const baseSchema: JsonSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name', maxLength: limits.name, required: true },
    store: { type: 'string', title: 'Vector store' },
    target: {
      type: 'string',
      title: 'Index or collection',
      required: true,
      description: 'Use a new name. The index is created for you.',
      ui: { mono: true, placeholder: 'help-pages' },
    },
    embeddingProvider: { type: 'string', title: 'Embedding provider' },
    embeddingModel: {
      type: 'string',
      title: 'Embedding model',
      description: "Leave empty for the provider's default. Cannot be changed later.",
      ui: { mono: true },
    },
    chunkTokens: {
      type: 'integer',
      title: 'Maximum passage length (tokens)',
      minimum: chunkTokenLimits.min,
      maximum: chunkTokenLimits.max,
      default: defaultChunks.chunkTokens,
      ui: { short: true },
    },
    overlapTokens: {
      type: 'integer',
      title: 'Overlap between passages (tokens)',
      minimum: 0,
      maximum: chunkTokenLimits.max / 2,
      default: defaultChunks.overlapTokens,
      ui: { short: true },
    },
    namespace: {
      type: 'string',
      title: 'Namespace',
      description: 'For Pinecone and the site database. Leave empty for the default namespace.',
      ui: { mono: true },
    },
  },
};

const probeText = 'How long is a vector of this model?';

/**
 * Creates a knowledge base. Embeds one sentence to learn the length of the model's vectors. A missing index or collection is
 * created with it; an existing one must have it.
 *
 * @throws RestError 400 `rest_invalid_param` with a sentence for each bad field (`data.params`), D5 of stores and providers
 */
export async function createBase(
  parts: KnowledgeParts,
  typed: TypedBase,
  signal?: AbortSignal,
): Promise<{ readonly base: KnowledgeBase; readonly createdTarget: boolean }> {
  const { bases } = parts;
  const base = await readBase(parts, typed);
  const other = await bases.findByTarget(base);
  if (other !== null)
    throw invalidFields({ target: `The knowledge base ${other.name} already uses it. Choose another name.` });
  const store = await parts.openVectorStore(base.store, { signal });
  const { embeddings } = await parts.embed({
    provider: base.embeddingProvider,
    model: base.embeddingModel,
    input: [probeText],
    taskType: 'RETRIEVAL_DOCUMENT',
    signal,
    origin: { module: 'knowledge-base', route: null, botId: null },
  });
  const dimension = embeddings[0]?.length ?? 0;
  const target = await store.describe(base.target);
  if (target !== null && target.dimension !== null && target.dimension !== dimension) {
    throw invalidFields({
      target:
        `${base.target} has ${String(target.dimension)} dimensions, but ${base.embeddingModel} returns ${String(dimension)}. ` +
        'Choose another name or model.',
    });
  }
  if (target === null) {
    const rule = store.store.targetName;
    if (rule !== undefined && !rule.pattern.test(base.target))
      throw invalidFields({ target: `A name must have ${rule.rule}.` });
    await store.create({ name: base.target, dimension, metric: store.store.metrics[0] ?? 'cosine' });
  }
  return { base: await bases.add(base), createdTarget: target === null };
}

async function readBase(parts: KnowledgeParts, typed: TypedBase): Promise<NewBase> {
  const text = (name: keyof NewBase): string => (typeof typed[name] === 'string' ? typed[name].trim() : '');
  const base: NewBase = {
    name: text('name'),
    store: text('store') || (parts.vectorStores.all().find(({ isBuiltIn }) => isBuiltIn === true)?.id ?? ''),
    target: text('target'),
    namespace: text('namespace'),
    embeddingProvider: text('embeddingProvider'),
    embeddingModel: text('embeddingModel'),
    chunkTokens: parseInteger(typed.chunkTokens, defaultChunks.chunkTokens),
    overlapTokens: parseInteger(typed.overlapTokens, defaultChunks.overlapTokens),
  };
  const errors: SettingErrors = { ...nameErrors(base.name), ...chunkErrors(base) };
  const store = parts.vectorStores.get(base.store);
  if (store === undefined) errors['store'] = 'Choose a vector store.';
  else if (missingSettings(store, await parts.vectorStoreSettings.effective(store.id)).length > 0)
    errors['store'] = `${store.label} is not set up. Set it up on the page "Vector stores".`;
  if (base.target === '' || base.target.length > limits.target)
    errors['target'] = 'Enter the name of an index or collection. A missing one is created.';
  if (base.namespace.length > limits.namespace) errors['namespace'] = 'Use at most 512 characters.';
  const provider = parts.providers
    .all()
    .find(({ id, embeddings }) => id === base.embeddingProvider && embeddings !== undefined);
  if (provider === undefined) errors['embeddingProvider'] = 'Choose a provider of embeddings.';
  const model =
    base.embeddingModel ||
    (provider === undefined ? '' : String((await parts.settings.provider(provider.id)).embedding_model ?? ''));
  if (model === '' || model.length > limits.model)
    errors['embeddingModel'] = 'Enter the name of an embedding model of this provider.';
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
  return { ...base, embeddingModel: model };
}

/** Updates a base, and requeues its sources if the passages change. @throws RestError 400 as `createBase` */
export async function updateBase(parts: KnowledgeParts, base: KnowledgeBase, changes: BaseChanges): Promise<void> {
  const { bases, sources } = parts;
  const updated = { ...base, ...changes };
  const errors: SettingErrors = { ...nameErrors(updated.name), ...chunkErrors(updated) };
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
  await bases.update(base.id, changes);
  if (updated.chunkTokens !== base.chunkTokens || updated.overlapTokens !== base.overlapTokens)
    await sources.requeue({ baseId: base.id });
}

function nameErrors(name: string): SettingErrors {
  return name.trim() === '' || name.length > limits.name ? { name: 'Enter a name of at most 200 characters.' } : {};
}

function chunkErrors({ chunkTokens, overlapTokens }: Pick<NewBase, 'chunkTokens' | 'overlapTokens'>): SettingErrors {
  const { min, max } = chunkTokenLimits;
  if (!Number.isInteger(chunkTokens) || chunkTokens < min || chunkTokens > max)
    return { chunkTokens: `Use ${String(min)} to ${String(max)} tokens.` };
  if (!Number.isInteger(overlapTokens) || overlapTokens < 0 || overlapTokens * 2 >= chunkTokens)
    return { overlapTokens: 'Use 0 or more tokens, and less than half of a passage.' };
  return {};
}

/** A whole number, or NaN. */
export function parseInteger(value: unknown, fallback: number): number {
  if (value === undefined || value === '') return fallback;
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^\d{1,6}$/.test(value.trim()) ? Number(value) : Number.NaN;
}
