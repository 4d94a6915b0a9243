import { RestError } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { missingSettings } from '../../../settings/configured.ts';
import { knowledgeOf } from '../knowledge.ts';
import type { BaseChanges, KnowledgeBase, NewBase } from './base.ts';
import { defaultChunks } from './base.ts';

/** What somebody typed for a new knowledge base. */
export type TypedBase = { readonly [Name in keyof NewBase]?: NewBase[Name] | string };

type SettingErrors = Record<string, string>;

const limits = { name: 200, target: 512, namespace: 512, model: 200 } as const;
export const chunkLimits = { least: 50, most: 8_000 } as const;
const probe = 'How long is a vector of this model?';

/**
 * Makes a knowledge base. Its index or collection is made with the length of the embedding model's vectors where there is
 * none of that name; one that is there must have that length. The model is asked by embedding one sentence.
 *
 * @throws RestError 400 `rest_invalid_param` with a sentence for each bad field (`data.params`), D5 of stores and providers
 */
export async function createBase(
  context: ServiceContext,
  typed: TypedBase,
  signal?: AbortSignal,
): Promise<{ readonly base: KnowledgeBase; readonly madeTarget: boolean }> {
  const { bases } = knowledgeOf(context);
  const base = await readBase(context, typed);
  const place = await bases.at(base);
  if (place !== null)
    throw refused({ target: `The knowledge base ${place.name} fills it already. Choose another name.` });
  const store = await context.openVectorStore(base.store, { signal });
  const { embeddings } = await context.embed({
    provider: base.embeddingProvider,
    model: base.embeddingModel,
    input: [probe],
    taskType: 'RETRIEVAL_DOCUMENT',
    signal,
    origin: { module: 'knowledge-base', route: null, botId: null },
  });
  const dimension = embeddings[0]?.length ?? 0;
  const target = await store.describe(base.target);
  if (target !== null && target.dimension !== null && target.dimension !== dimension) {
    throw refused({
      target: `${base.target} holds vectors of ${String(target.dimension)} dimensions, but ${base.embeddingModel} gives ${String(dimension)}. Choose another name, or another model.`,
    });
  }
  if (target === null) {
    const rule = store.store.targetName;
    if (rule !== undefined && !rule.pattern.test(base.target)) throw refused({ target: `A name has ${rule.rule}.` });
    await store.create({ name: base.target, dimension, metric: store.store.metrics[0] ?? 'cosine' });
  }
  return { base: await bases.add(base), madeTarget: target === null };
}

async function readBase(context: ServiceContext, typed: TypedBase): Promise<NewBase> {
  const text = (name: keyof NewBase): string => (typeof typed[name] === 'string' ? typed[name].trim() : '');
  const base: NewBase = {
    name: text('name'),
    store: text('store'),
    target: text('target'),
    namespace: text('namespace'),
    embeddingProvider: text('embeddingProvider'),
    embeddingModel: text('embeddingModel'),
    chunkTokens: whole(typed.chunkTokens, defaultChunks.chunkTokens),
    overlapTokens: whole(typed.overlapTokens, defaultChunks.overlapTokens),
  };
  const errors: SettingErrors = { ...nameErrors(base.name), ...chunkErrors(base) };
  const store = context.vectorStores.get(base.store);
  if (store === undefined) errors['store'] = 'Choose a vector store.';
  else if (missingSettings(store, await context.vectorStoreSettings.effective(store.id)).length > 0)
    errors['store'] = `${store.label} is not set up yet. Do that on the page "Vector stores".`;
  if (base.target === '' || base.target.length > limits.target)
    errors['target'] = 'Type the name of an index or collection. It is made where there is none.';
  if (base.namespace.length > limits.namespace) errors['namespace'] = 'This is too long.';
  const provider = (await context.providers.all()).find(
    ({ id, embeddings }) => id === base.embeddingProvider && embeddings !== undefined,
  );
  if (provider === undefined) errors['embeddingProvider'] = 'Choose a provider that embeds texts.';
  const model =
    base.embeddingModel ||
    (provider === undefined ? '' : String((await context.settings.provider(provider.id)).embedding_model ?? ''));
  if (model === '' || model.length > limits.model)
    errors['embeddingModel'] = 'Type the name of an embedding model of that provider.';
  if (Object.keys(errors).length > 0) throw refused(errors);
  return { ...base, embeddingModel: model };
}

/** Changes what may be changed of a base; texts are cut anew where their passages change. @throws RestError 400 as `createBase` */
export async function changeBase(context: ServiceContext, base: KnowledgeBase, changes: BaseChanges): Promise<void> {
  const { bases, sources } = knowledgeOf(context);
  const whole = { ...base, ...changes };
  const errors: SettingErrors = { ...nameErrors(whole.name), ...chunkErrors(whole) };
  if (Object.keys(errors).length > 0) throw refused(errors);
  await bases.update(base.id, changes);
  if (whole.chunkTokens !== base.chunkTokens || whole.overlapTokens !== base.overlapTokens)
    await sources.requeue({ baseId: base.id });
}

function nameErrors(name: string): SettingErrors {
  return name.trim() === '' || name.length > limits.name ? { name: 'Type a name of up to 200 characters.' } : {};
}

function chunkErrors({ chunkTokens, overlapTokens }: Pick<NewBase, 'chunkTokens' | 'overlapTokens'>): SettingErrors {
  const { least, most } = chunkLimits;
  if (!Number.isInteger(chunkTokens) || chunkTokens < least || chunkTokens > most)
    return { chunkTokens: `A passage has ${String(least)} to ${String(most)} tokens.` };
  if (!Number.isInteger(overlapTokens) || overlapTokens < 0 || overlapTokens * 2 >= chunkTokens)
    return { overlapTokens: 'The overlap is 0 or more, and less than half of a passage.' };
  return {};
}

/** NaN for what is no whole number. */
export function whole(value: unknown, fallback: number): number {
  if (value === undefined || value === '') return fallback;
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^\d{1,6}$/.test(value.trim()) ? Number(value) : Number.NaN;
}

/** A RestError 400 that names bad fields. */
export function refused(errors: SettingErrors): RestError {
  return new RestError({
    code: 'rest_invalid_param',
    status: 400,
    message: Object.values(errors).join(' '),
    data: { params: errors },
  });
}
