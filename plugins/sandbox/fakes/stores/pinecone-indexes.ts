import { randomUUID } from 'node:crypto';
import { asRecord, isRecord } from '#plugin-api';
import type { StoredCollection } from '../../storage/vector-storage.ts';
import { jsonResponse, Refusal } from '../../fake.ts';
import type { FakeResponse, FakeRequest, FakeRoute } from '../../fake.ts';
import { controlError } from './pinecone-reply.ts';

export interface IndexDefinition {
  readonly dimension: number;
  readonly metric: 'cosine' | 'euclidean' | 'dotproduct';
  readonly spec: Readonly<Record<string, unknown>>;
  readonly deletion_protection: string;
  readonly tags: Readonly<Record<string, unknown>> | null;
}

export function definitionOf({ definition }: StoredCollection): IndexDefinition {
  return definition as unknown as IndexDefinition;
}

const invalid = (message: string): Refusal => new Refusal(controlError(400, 'INVALID_ARGUMENT', message));

const find = ({ storage, params: { index = '' } }: FakeRequest): Promise<StoredCollection | undefined> =>
  storage.findCollection('pinecone', { scope: '', name: index });

async function indexOf(request: FakeRequest): Promise<StoredCollection> {
  const index = await find(request);
  if (!index) throw new Refusal(controlError(404, 'NOT_FOUND', `Resource ${request.params['index'] ?? ''} not found`));
  return index;
}

/** The address of the data plane is the sandbox's own, so that it moves with its port. */
function described({ origin }: FakeRequest, index: StoredCollection): object {
  const { tags, ...definition } = definitionOf(index);
  return {
    name: index.name,
    vector_type: 'dense',
    ...definition,
    ...(tags && { tags }),
    host: `${origin}/pinecone/hosts/${index.name}`,
    status: { ready: true, state: 'Ready' },
  };
}

async function create(request: FakeRequest): Promise<FakeResponse> {
  const body = asRecord(request.body);
  const { name } = body;
  if (typeof name !== 'string' || !/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(name)) {
    throw invalid(
      "Name must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
    );
  }
  if (name.length > 45) throw invalid('Name must be 45 characters or fewer');
  const definition = readDefinition(body);
  const index: StoredCollection = {
    id: randomUUID(),
    store: 'pinecone',
    scope: '',
    name,
    definition: { ...definition },
    createdAt: request.now,
  };
  if (!(await request.storage.addCollection(index)))
    throw new Refusal(controlError(409, 'ALREADY_EXISTS', 'Resource  already exists'));
  return jsonResponse(201, described(request, index));
}

function readDefinition(body: Readonly<Record<string, unknown>>): IndexDefinition {
  const { dimension, metric = 'cosine', spec, tags } = body;
  if ((body['vector_type'] ?? 'dense') !== 'dense')
    throw invalid('The sandbox holds dense indexes alone: leave vector_type out.');
  if (typeof dimension !== 'number' || !Number.isInteger(dimension) || dimension < 1 || dimension > 20000)
    throw invalid('Dimension must be an integer between 1 and 20000');
  if (metric !== 'cosine' && metric !== 'euclidean' && metric !== 'dotproduct')
    throw invalid(`Invalid metric: ${String(metric)}. Must be one of: cosine, euclidean, dotproduct`);
  return {
    dimension,
    metric,
    spec: readSpec(spec),
    deletion_protection: String(body['deletion_protection'] ?? 'disabled'),
    tags: isRecord(tags) ? tags : null,
  };
}

function readSpec(spec: unknown): IndexDefinition['spec'] {
  const { serverless, pod } = asRecord(spec);
  if (isRecord(pod)) return { pod: { replicas: 1, shards: 1, pods: 1, ...pod } };
  if (!isRecord(serverless) || typeof serverless['cloud'] !== 'string' || typeof serverless['region'] !== 'string') {
    throw invalid('Invalid spec: give serverless with cloud and region, or pod');
  }
  return {
    serverless: {
      cloud: serverless['cloud'],
      region: serverless['region'],
      read_capacity: { mode: 'OnDemand', status: { state: 'Ready' } },
    },
  };
}

async function configure(request: FakeRequest): Promise<FakeResponse> {
  const index = await indexOf(request);
  const { deletion_protection: protection, tags } = asRecord(request.body);
  const definition = definitionOf(index);
  // An empty value takes a tag away.
  const stored = Object.fromEntries(
    Object.entries({ ...definition.tags, ...(isRecord(tags) && tags) }).filter(([, value]) => value !== ''),
  );
  const changed: StoredCollection = {
    ...index,
    definition: {
      ...definition,
      ...(typeof protection === 'string' && { deletion_protection: protection }),
      tags: Object.keys(stored).length > 0 ? stored : null,
    },
  };
  await request.storage.changeCollection(changed);
  return jsonResponse(202, described(request, changed));
}

async function remove(request: FakeRequest): Promise<FakeResponse> {
  const index = await indexOf(request);
  if (definitionOf(index).deletion_protection === 'enabled') {
    throw new Refusal(
      controlError(
        403,
        'FORBIDDEN',
        'Deletion protection is enabled for this index. Disable deletion protection before retrying.',
      ),
    );
  }
  await request.storage.removeCollection(index.id);
  return { status: 202, headers: {}, chunks: [''] };
}

const one = /^\/indexes\/(?<index>[^/]+)$/;

/** The control plane. */
export const pineconeIndexRoutes: readonly FakeRoute[] = [
  {
    method: 'GET',
    path: /^\/indexes$/,
    handle: async (request) =>
      jsonResponse(200, {
        indexes: (await request.storage.listCollections('pinecone', '')).map((index) => described(request, index)),
      }),
  },
  { method: 'POST', path: /^\/indexes$/, handle: create },
  {
    method: 'GET',
    path: one,
    handle: async (request) => jsonResponse(200, described(request, await indexOf(request))),
  },
  { method: 'PATCH', path: one, handle: configure },
  { method: 'DELETE', path: one, handle: remove },
];
