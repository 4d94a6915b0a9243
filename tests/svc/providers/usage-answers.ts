import type { TokenDetails } from '../../../plugins/svc/kit/token-details.ts';
import { fixturesOf, streamOf, type JsonBody } from '../../conformance/upstream.ts';

/** A usage as a provider reports it, and what the provider bills for it. */
export interface UsageCase {
  readonly provider: string;
  readonly kind: 'text' | 'image' | 'embedding';
  readonly what: string;
  readonly model: string;
  /** For a line of the price table that applies from so many input tokens on: `model from 200000`. */
  readonly min_input_tokens?: number;
  /** Images of the answer. */
  readonly images?: number;
  /** Null: the provider reports none. */
  readonly usage: JsonBody | null;
  /** Input and output. */
  readonly tokens: readonly [number, number];
  readonly details: TokenDetails | null;
  /** Tokens, or images, by the line of the price table. */
  readonly billed: Readonly<Record<string, number>>;
  /** US dollars, where the provider reports them. */
  readonly cost_reported?: string;
}

const data = 'aW1hZ2U=';

/** The answer of the provider with this usage. */
export function answerOf({ provider, kind, model, images = 1, usage }: UsageCase): JsonBody {
  const isGoogle = provider === 'google';
  const reported = usage === null ? {} : { [isGoogle ? 'usageMetadata' : 'usage']: usage };
  if (kind === 'text')
    return { ...fixturesOf(provider).answer, [isGoogle ? 'modelVersion' : 'model']: model, ...reported };
  if (kind === 'embedding')
    return isGoogle
      ? { embeddings: [{ values: [0.5, 1] }], ...reported }
      : { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5, 1] }], model, ...reported };
  const all = <Image>(image: Image): Image[] => Array.from({ length: images }, () => image);
  if (model.startsWith('imagen')) return { predictions: all({ bytesBase64Encoded: data, mimeType: 'image/png' }) };
  if (isGoogle) {
    const parts = all({ inlineData: { mimeType: 'image/png', data } });
    return {
      candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
      modelVersion: model,
      ...reported,
    };
  }
  if (provider === 'openrouter') {
    const shown = all({ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } });
    const message = { role: 'assistant', content: 'Here it is.', images: shown };
    return { model, choices: [{ index: 0, finish_reason: 'stop', message }], ...reported };
  }
  return { created: 1767225600, data: all({ b64_json: data }), ...reported };
}

/** The recorded stream of the provider with this usage, which it reports as the provider does. */
export function streamWith({ provider, model, usage }: UsageCase): string {
  const stream = streamOf(provider).replace(/"(model|modelVersion)":"[^"]*"/g, (_all, name: string) => {
    return `"${name}":"${model}"`;
  });
  const json = JSON.stringify(usage);
  if (provider === 'google')
    return `${stream.replace(/,?"usageMetadata":\{[^}]*\}/g, '').trimEnd()}\n\ndata: {"usageMetadata":${json}}\n\n`;
  if (provider === 'claude') {
    const { output_tokens: output, output_tokens_details: details, ...begun } = usage ?? {};
    return stream
      .replace(/"usage":\{[^}]*\}/, () => `"usage":${JSON.stringify({ ...begun, output_tokens: 1 })}`)
      .replace(/("type":"message_delta".*"usage":)\{[^}]*\}/, (_all, before: string) => {
        return before + JSON.stringify({ output_tokens: output, output_tokens_details: details });
      });
  }
  return stream.replace('data: [DONE]', () => `data: {"choices":[],"usage":${json}}\n\ndata: [DONE]`);
}
