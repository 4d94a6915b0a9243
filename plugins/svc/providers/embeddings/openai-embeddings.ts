import { lazyMethods } from '../../kit/lazy.ts';
import type { ChatAccessOf } from '../chat-completions/chat-client.ts';
import type { EmbeddingCapability, ProviderSettings } from '../provider.ts';
import type { EmbeddingField } from './embedding-fields.ts';

export interface OpenAiEmbeddingsInit {
  readonly access: ChatAccessOf;
  /** Fields that the upstream supports. */
  readonly takes: readonly EmbeddingField[];
  readonly limits: EmbeddingCapability['limits'];
  /** Fields that a single model refuses. */
  readonly refusedBy?: (model: string, settings: ProviderSettings) => readonly EmbeddingField[];
}

/**
 * Limits of `POST /embeddings`: inputs of a call, and tokens of all inputs. OpenAI takes 2,048 inputs, but that response is one JSON
 * text of 40 MB, which is parsed without a pause (D46).
 */
export const openAiLimits = { inputs: 256, tokens: 300_000 } as const;

/** OpenAI's only model with a fixed length; it refuses the field. */
export function withoutDimensions(model: string): readonly EmbeddingField[] {
  return /(^|\/)text-embedding-ada-002/.test(model) ? ['dimensions'] : [];
}

/** Embeddings in OpenAI's format, using the `openai` package. */
export function createOpenAiEmbeddings(init: OpenAiEmbeddingsInit): EmbeddingCapability {
  return {
    limits: init.limits,
    takesTokens: true,
    takes: (model, settings) => supportedFields(init, model, settings),
    ...lazyMethods(
      async () =>
        (await import('./openai-embed.ts')).createEmbed(init.access, (model, settings) =>
          supportedFields(init, model, settings),
        ),
      ['embed'],
    ),
  };
}

function supportedFields(
  {
    takes,
    refusedBy,
  }: { readonly takes: readonly EmbeddingField[]; readonly refusedBy?: OpenAiEmbeddingsInit['refusedBy'] | undefined },
  model: string,
  settings: ProviderSettings,
): readonly EmbeddingField[] {
  const refused = refusedBy?.(model, settings) ?? [];
  return takes.filter((field) => !refused.includes(field));
}
