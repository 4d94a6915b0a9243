import type { JsonSchema, ParamsOf, RestRequest, RouteArguments } from '#plugin-api';
import { definePostRoute, modelArgument, providerArgument } from '../../kit/route.ts';
import { restOrigin } from '../../kit/usage-origin.ts';
import type { EmbeddingsPort, HostPort, VectorStoresPort } from '../../ports.ts';
import type { UpsertRequest, UpsertResponse } from './hooks.ts';

type UpsertPorts = HostPort & EmbeddingsPort & VectorStoresPort;

const responseSchema = {
  type: 'object',
  title: 'upsert',
  properties: {
    upserted_count: { type: 'integer', description: 'Vectors written.' },
    status: { type: 'string', enum: ['success'], description: 'success if all vectors were written.' },
  },
} as const satisfies JsonSchema;

/** Bytes. */
const bodyLimit = 10 * 1024 * 1024;

/** D15. */
const vectorsArgument = {
  type: 'array',
  required: true,
  minItems: 1,
  maxItems: 1_000,
  description: 'Texts to embed and store, each as one vector.',
  examples: [[{ content: 'Our shop opens at nine.', id: 'opening-hours', metadata: { page: 'contact' } }]],
  items: {
    type: 'object',
    properties: {
      content: { type: 'string', required: true, maxLength: bodyLimit, description: 'Text to embed and store.' },
      id: {
        type: 'string',
        minLength: 1,
        maxLength: 512,
        description: 'Identifier; default a new UUID. A vector with the same id is replaced.',
      },
      metadata: {
        type: 'object',
        description:
          'Stored with the vector, next to original_content. Values that a store does not support become JSON text.',
      },
    },
  },
} as const satisfies JsonSchema;

const args = (ports: UpsertPorts) =>
  ({
    provider: providerArgument({
      ids: () => ports.vectorStoreIds(),
      description: 'Id of the vector database.',
      required: true,
    }),
    target_id: {
      type: 'string',
      required: true,
      minLength: 1,
      maxLength: 512,
      description: 'Name of the index (pinecone) or collection (qdrant, chroma, local).',
    },
    vectors: vectorsArgument,
    embedding_provider: providerArgument({
      ids: () => ports.embeddingProviderIds(),
      description: 'Id of the provider that embeds the texts.',
      required: true,
    }),
    embedding_model: modelArgument('Embedding model; for azure the deployment.'),
    namespace: { type: 'string', maxLength: 512, description: 'Used by pinecone and local.' },
  }) as const satisfies RouteArguments;

type UpsertParams = ParamsOf<ReturnType<typeof args>>;

/** `POST /vector-stores/upsert` (contract 4.7, D15). */
export const upsertRoute = definePostRoute({
  path: '/vector-stores/upsert',
  access: 'vector-stores',
  summary: 'Embed texts and write them into a vector database.',
  description:
    'The index or collection must exist. Nothing is written unless every text was embedded. If the ' +
    'database fails part way, `data.upserted_count` is the number of written vectors; send the same ids ' +
    'again to complete them.',
  schema: responseSchema,
  bodyLimit,
  args,
  responses: {
    404: { description: 'The index or collection does not exist (rest_svc_vector_target_not_found).' },
  },
  handler: upsert,
});

async function upsert(
  request: RestRequest<UpsertParams>,
  { host, upsertVectors }: UpsertPorts,
): Promise<UpsertResponse> {
  const { provider, target_id, vectors, embedding_provider, embedding_model, namespace } = request.params;
  const { hooks } = host;
  const call: UpsertRequest = await hooks.applyFiltersAsync(
    'svc_vector_upsert_request',
    {
      provider,
      target_id,
      vectors,
      embedding_provider,
      embedding_model,
      ...(namespace !== undefined && { namespace }),
    },
    request,
  );
  const { ids } = await upsertVectors({
    store: call.provider,
    target: call.target_id,
    items: call.vectors,
    embedding: { provider: call.embedding_provider, model: call.embedding_model },
    namespace: call.namespace,
    signal: request.signal,
    origin: restOrigin(request, '/vector-stores/upsert'),
  });
  return hooks.applyFiltersAsync(
    'svc_vector_upsert_response',
    { upserted_count: ids.length, status: 'success' },
    call,
    request,
  );
}
