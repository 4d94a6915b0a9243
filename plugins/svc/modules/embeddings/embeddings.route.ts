import {
  argumentBounds,
  type JsonSchema,
  type ParamsOf,
  type RestRequest,
  type RestResponse,
  type RouteArguments,
  withoutUndefined,
} from '#plugin-api';
import type { EmbeddingsPort, HostPort } from '../../ports.ts';
import { definePostRoute, embeddingInputArgument, modelArgument, providerArgument } from '../../kit/route.ts';
import { restOrigin } from '../../kit/usage-origin.ts';
import type { EmbeddingsRequest } from './hooks.ts';
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
  const { writeResponse } = await import('./write-response.ts');
  return writeResponse({ result, call, request, hooks });
}

function toRequest({ input, ...params }: EmbeddingsParams): EmbeddingsRequest {
  const { provider, model, dimensions, encoding_format, task_type, output_dimensionality, user } = params;
  const optional = withoutUndefined({ dimensions, encoding_format, task_type, output_dimensionality, user });
  return { provider, model, input: readInput(input), ...optional };
}
