import {
  argumentBounds,
  RestResponse,
  type JsonSchema,
  type ParamsOf,
  type RestRequest,
  type RouteArguments,
  withoutUndefined,
} from '#plugin-api';
import type { EmbeddingsPort, HostPort } from '../../ports.ts';
import { responseHeaders } from '../../kit/response-headers.ts';
import { definePostRoute, embeddingInputArgument, modelArgument, providerArgument } from '../../kit/route.ts';
import { restOrigin } from '../../kit/usage-origin.ts';
import type { EmbeddingsResponse, EmbeddingsRequest } from './hooks.ts';
import { mapVectors, writeVectors } from '../../kit/write-vectors.ts';
import { writeFloats } from './write-response.ts';
import { errors } from '../../kit/errors.ts';

/** @throws RestError 400 `rest_svc_empty_input` that names the blank text (D5). */
function readInput(input: string | readonly string[]): readonly string[] {
  const texts = typeof input === 'string' ? [input] : input;
  const blank = texts.findIndex((text) => text.trim() === '');
  if (blank >= 0)
    throw errors.empty_input({ values: { name: typeof input === 'string' ? 'input' : `input[${String(blank)}]` } });
  return texts;
}

export type EmbeddingsPorts = HostPort & EmbeddingsPort;

const responseSchema = {
  type: 'object',
  title: 'embeddings',
  properties: {
    embeddings: {
      type: 'array',
      description: 'One vector per input, in the order of the inputs, for every encoding_format.',
      items: { type: 'array', items: { type: 'number' } },
    },
    usage: { type: 'object', properties: { input_tokens: { type: 'integer' }, total_tokens: { type: 'integer' } } },
    provider: { type: 'string', description: 'Display name of the provider used.' },
    model: { type: 'string', description: 'Model used.' },
  },
} as const satisfies JsonSchema;

const taskTypes = [
  'SEMANTIC_SIMILARITY',
  'CLASSIFICATION',
  'CLUSTERING',
  'RETRIEVAL_DOCUMENT',
  'RETRIEVAL_QUERY',
  'QUESTION_ANSWERING',
  'FACT_VERIFICATION',
  'CODE_RETRIEVAL_QUERY',
] as const;

const args = (ports: EmbeddingsPorts) =>
  ({
    provider: providerArgument({
      ids: () => ports.embeddingProviderIds(),
      description: 'Id of the provider that creates the embeddings.',
      required: true,
    }),
    model: modelArgument('Embedding model identifier; for azure the deployment.'),
    input: embeddingInputArgument,
    dimensions: {
      type: 'integer',
      ...argumentBounds.id,
      minimum: 1,
      description: 'Size of the vectors, for openai, openrouter and azure if the model supports it.',
    },
    encoding_format: {
      type: 'string',
      enum: ['float', 'base64'],
      description:
        'Encoding requested from openai and openrouter. The response contains numbers either way, as for float, the default.',
    },
    task_type: { type: 'string', enum: taskTypes, description: 'Google only: what the vectors are for.' },
    output_dimensionality: {
      type: 'integer',
      ...argumentBounds.id,
      minimum: 1,
      description: 'Google only: size of the vectors.',
    },
    user: {
      type: 'string',
      ...argumentBounds.line,
      description: 'End-user identifier for monitoring, for openai and azure.',
    },
  }) as const satisfies RouteArguments;

type EmbeddingsParams = ParamsOf<ReturnType<typeof args>>;

/** `POST /embeddings` (contract 4.4, D5, D9, D11, D12, D25). */
export const embeddingsRoute = definePostRoute({
  path: '/embeddings',
  access: 'embeddings',
  hasDryRun: true,
  summary: 'Create embeddings.',
  description: 'Fields that the provider does not accept are dropped and named in `X-SVC-Ignored-Params`.',
  schema: responseSchema,
  args,
  handler: createEmbeddings,
});

async function createEmbeddings(
  request: RestRequest<EmbeddingsParams>,
  { host, embed }: EmbeddingsPorts,
): Promise<RestResponse> {
  const { hooks } = host;
  const call: EmbeddingsRequest = await hooks.applyFiltersAsync(
    'svc_embeddings_request',
    toRequest(request.params),
    request,
  );
  const result = await embed({
    provider: call.provider,
    model: call.model,
    input: call.input,
    dimensions: call.dimensions,
    encodingFormat: call.encoding_format,
    taskType: call.task_type,
    outputDimensionality: call.output_dimensionality,
    user: call.user,
    signal: request.signal,
    origin: restOrigin(request, '/embeddings'),
  });
  const { usage, provider, model, packed } = result;
  const rest = { usage, provider, model };
  const headers = responseHeaders(result);
  if (hooks.hasFilter('svc_embeddings_response')) {
    const embeddings = packed === undefined ? result.embeddings : await mapVectors(packed, readFloats);
    const body = await hooks.applyFiltersAsync('svc_embeddings_response', { embeddings, ...rest }, call, request);
    const isList = Array.isArray(body.embeddings);
    return new RestResponse({ body, headers, ...(isList && { write: () => writeBody(body.embeddings, body) }) });
  }
  if (packed === undefined)
    return new RestResponse({
      body: { embeddings: result.embeddings, ...rest },
      headers,
      write: () => writeBody(result.embeddings, rest),
    });
  return new RestResponse({ body: withLazyEmbeddings(packed, rest), headers, write: () => writeBody(packed, rest) });
}

/** The JSON of a response. Members beside the vectors follow them. */
function writeBody<Vector extends Float32Array | readonly number[]>(
  vectors: readonly Vector[],
  body: Omit<EmbeddingsResponse, 'embeddings'>,
): ReturnType<typeof writeVectors> {
  const rest = JSON.stringify({ ...body, embeddings: undefined });
  return writeVectors(vectors, {
    head: '{"embeddings":[',
    tail: rest === '{}' ? ']}' : `],${rest.slice(1)}`,
    write: (slice) => (isPacked(slice) ? writeFloats(slice) : JSON.stringify(slice).slice(1, -1)),
  });
}

function isPacked(vectors: readonly ArrayLike<number>[]): vectors is readonly Float32Array[] {
  return vectors[0] instanceof Float32Array;
}

/** The numbers that are sent. */
function readFloats(vectors: readonly Float32Array[]): number[][] {
  return JSON.parse(`[${Buffer.from(writeFloats(vectors)).toString('latin1')}]`) as number[][];
}

/** Most responses are sent as written: the numbers are parsed only if something reads them, and are the same then. */
function withLazyEmbeddings(
  packed: readonly Float32Array[],
  rest: Omit<EmbeddingsResponse, 'embeddings'>,
): EmbeddingsResponse {
  let parsed: EmbeddingsResponse['embeddings'] | undefined;
  return {
    get embeddings() {
      return (parsed ??= readFloats(packed));
    },
    ...rest,
  };
}

function toRequest({ input, ...params }: EmbeddingsParams): EmbeddingsRequest {
  const { provider, model, dimensions, encoding_format, task_type, output_dimensionality, user } = params;
  const optional = withoutUndefined({ dimensions, encoding_format, task_type, output_dimensionality, user });
  return { provider, model, input: readInput(input), ...optional };
}
