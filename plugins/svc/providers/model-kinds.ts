import { listAt, objectAt } from './json.ts';
import type { ModelInfo, ModelKind } from './provider.ts';

/**
 * What a listed model makes, as far as the far end says so: in fields (OpenRouter's modalities, Azure's capabilities,
 * Google's actions), or plainly in its name, which is all that OpenAI's listing says. Undefined where nothing is said.
 */
export function modelKinds(entry: unknown, id: string): readonly ModelKind[] | undefined {
  const said = [...fromModalities(entry), ...fromCapabilities(entry), ...fromActions(entry, id)];
  if (said.length > 0) return [...new Set(said)];
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

/** `predict` is how Imagen is asked; other models that are asked so make videos. */
function fromActions(entry: unknown, id: string): ModelKind[] {
  const actions = listAt(entry, 'supportedActions');
  const text = actions.includes('generateContent');
  return [
    ...(text && !isImageName(id) ? (['text'] as const) : []),
    ...(actions.includes('embedContent') || actions.includes('batchEmbedContents') ? (['embedding'] as const) : []),
    ...((text || actions.includes('predict')) && isImageName(id) ? (['image'] as const) : []),
  ];
}

/** A model as listings name it: no label that says nothing, no kinds that are not known. */
export function modelInfo(entry: unknown, id: string, label: string | null): ModelInfo {
  const kinds = modelKinds(entry, id);
  return { id, ...(label !== null && label !== id && { label }), ...(kinds && { kinds }) };
}
