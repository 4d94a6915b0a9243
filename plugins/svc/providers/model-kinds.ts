import { listAt, objectAt } from './json.ts';
import type { ModelInfo, ModelKind } from './provider.ts';

/**
 * The kinds of output of a listed model: from fields (OpenRouter's modalities, Azure's capabilities, Google's actions), or
 * else from its name, which is all that OpenAI lists. Undefined if unknown.
 */
export function modelKinds(entry: unknown, id: string): readonly ModelKind[] | undefined {
  const stated = [...fromModalities(entry), ...fromCapabilities(entry), ...fromActions(entry, id)];
  if (stated.length > 0) return [...new Set(stated)];
  if (/(^|[-_/.])(text-)?embed(ding)?s?([-_/.:0-9]|$)|^(nomic|mxbai)-embed/.test(id)) return ['embedding'];
  return isImageName(id) ? ['image'] : undefined;
}

function isImageName(id: string): boolean {
  return /(^|\/)(gpt-image|chatgpt-image|dall-e|imagen|gpt-\d[\w.]*-image)|-image([-_:0-9]|$)|imagine-image/.test(id);
}

function fromModalities(entry: unknown): ModelKind[] {
  const outputs = listAt(objectAt(entry, 'architecture'), 'output_modalities');
  return [
    ...(outputs.includes('text') ? (['text'] as const) : []),
    ...(outputs.includes('image') ? (['image'] as const) : []),
    ...(outputs.includes('embeddings') ? (['embedding'] as const) : []),
  ];
}

function fromCapabilities(entry: unknown): ModelKind[] {
  const can = (name: string): boolean => objectAt(entry, 'capabilities')[name] === true;
  return [
    ...(can('chat_completion') ? (['text'] as const) : []),
    ...(can('embeddings') ? (['embedding'] as const) : []),
    ...(can('image_generation') ? (['image'] as const) : []),
  ];
}

/** Imagen uses `predict`, Veo `predictLongRunning`. */
function fromActions(entry: unknown, id: string): ModelKind[] {
  const actions = listAt(entry, 'supportedActions');
  const text = actions.includes('generateContent');
  return [
    ...(text && !isImageName(id) ? (['text'] as const) : []),
    ...(actions.includes('embedContent') || actions.includes('batchEmbedContents') ? (['embedding'] as const) : []),
    ...(actions.includes('predictLongRunning') ? (['video'] as const) : []),
    ...((text || actions.includes('predict')) && isImageName(id) ? (['image'] as const) : []),
  ];
}

/** A listed model, without a label equal to its id and without unknown kinds. */
export function modelInfo(entry: unknown, id: string, label: string | null): ModelInfo {
  const kinds = modelKinds(entry, id);
  return { id, ...(label !== null && label !== id && { label }), ...(kinds && { kinds }) };
}
