import { isRecord } from '#plugin-api';
import { modelDimension } from '../embeddings/model-dimension.ts';
import { textVector } from '../embeddings/text-vector.ts';
import { jsonResponse, Refusal, readContentText } from '../fake.ts';
import type { FakeResponse, FakeRequest, FakeRoute } from '../fake.ts';
import { unknownModel, invalidArgument } from './google-request.ts';

const taskTypes = [
  'TASK_TYPE_UNSPECIFIED',
  'RETRIEVAL_QUERY',
  'RETRIEVAL_DOCUMENT',
  'SEMANTIC_SIMILARITY',
  'CLASSIFICATION',
  'CLUSTERING',
  'QUESTION_ANSWERING',
  'FACT_VERIFICATION',
  'CODE_RETRIEVAL_QUERY',
];
const members = ['model', 'content', 'taskType', 'title', 'outputDimensionality', 'embedContentConfig'];
const mostRequests = 100;

function embedContent(request: FakeRequest): FakeResponse {
  const { model } = readModel(request);
  return jsonResponse(200, { embedding: embedding(request.body, { model, kind: 'EmbedContentRequest' }) });
}

function batchEmbedContents(request: FakeRequest): FakeResponse {
  const { model } = readModel(request);
  const requests = isRecord(request.body) ? request.body['requests'] : undefined;
  if (!Array.isArray(requests) || requests.length === 0)
    throw invalidArgument('* BatchEmbedContentsRequest.requests: must contain at least one request\n');
  if (requests.length > mostRequests)
    throw invalidArgument(
      `* BatchEmbedContentsRequest.requests: at most ${String(mostRequests)} requests can be in one batch\n`,
    );
  return jsonResponse(200, {
    embeddings: requests.map((entry: unknown, index) => {
      // Each one names the model of the address.
      if (!isRecord(entry) || entry['model'] !== `models/${model}`)
        throw invalidArgument(
          `* BatchEmbedContentsRequest.requests[${String(index)}].model: model must match the model in the address, models/${model}\n`,
        );
      return embedding(entry, { model, kind: `BatchEmbedContentsRequest.requests[${String(index)}]` });
    }),
  });
}

function readModel({ params: { model = '', version = 'v1beta' } }: FakeRequest): { model: string } {
  if (model.startsWith('missing-')) throw new Refusal(unknownModel(model, version, 'embedContent'));
  return { model };
}

function embedding(
  body: unknown,
  { model, kind }: { readonly model: string; readonly kind: string },
): { values: number[] } {
  if (!isRecord(body)) throw invalidArgument('Invalid JSON payload received. Expected an object.');
  const given = Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
  const stranger = Object.keys(given).find((name) => !members.includes(name));
  if (stranger !== undefined)
    throw invalidArgument(`Invalid JSON payload received. Unknown name "${stranger}": Cannot find field.`);
  const { content, taskType, outputDimensionality } = given;
  const text = isRecord(content) ? readContentText(content['parts']) : '';
  if (text === '') throw invalidArgument(`* ${kind}.content: contents is not specified\n`);
  if (taskType !== undefined && !taskTypes.includes(String(taskType))) {
    throw invalidArgument(
      `Invalid value at 'task_type' (type.googleapis.com/google.ai.generativelanguage.v1beta.TaskType), "${String(taskType)}"`,
    );
  }
  return { values: Array.from(textVector(text, { dimension: readDimension(outputDimensionality, model), model })) };
}

function readDimension(value: unknown, model: string): number {
  const most = modelDimension(model);
  if (value === undefined) return most;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw invalidArgument(
    `Unable to embed content with output_dimensionality ${JSON.stringify(value)}: must be between 1 and ${String(most)}.`,
  );
}

/** One text, or up to 100. Task types are checked; the vectors are the same for all of them. */
export const googleEmbeddingRoutes: readonly FakeRoute[] = [
  { method: 'POST', path: /^\/(?<version>v1|v1beta)\/models\/(?<model>[^/:]+):embedContent$/, handle: embedContent },
  {
    method: 'POST',
    path: /^\/(?<version>v1|v1beta)\/models\/(?<model>[^/:]+):batchEmbedContents$/,
    handle: batchEmbedContents,
  },
];
