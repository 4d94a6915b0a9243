import { randomUUID } from 'node:crypto';
import { asRecord, isRecord } from '#plugin-api';
import type { StoredCollection } from '../../storage/vector-storage.ts';
import { jsonResponse } from '../../fake.ts';
import type { FakeResponse, FakeRequest, FakeRoute } from '../../fake.ts';
import { conflict, invalidArgument, notFound, objectBody, stringMember, unreadable } from './chroma-reply.ts';

const defaultTenant = 'default_tenant';
const defaultDatabase = 'default_database';
const noId = '00000000-0000-0000-0000-000000000000';

/** What is stored of a collection beside its name. */
export interface ChromaDefinition {
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly configuration: Readonly<Record<string, unknown>>;
  /** Null until the first record comes. */
  readonly dimension: number | null;
  /** Records ever added: the next one's position in the order. */
  readonly sequence: number;
}

export function definitionOf({ definition }: StoredCollection): ChromaDefinition {
  return definition as unknown as ChromaDefinition;
}

/** Distance function of a collection. */
export function spaceOf(collection: StoredCollection): 'l2' | 'cosine' | 'ip' {
  const { hnsw } = definitionOf(collection).configuration;
  const space = isRecord(hnsw) ? hnsw['space'] : undefined;
  return space === 'cosine' || space === 'ip' ? space : 'l2';
}

const scopeOf = ({ params: { tenant = '', database = '' } }: FakeRequest): string => JSON.stringify([tenant, database]);

async function tenantExists({ storage }: FakeRequest, tenant: string): Promise<boolean> {
  return (
    tenant === defaultTenant ||
    (await storage.findCollection('chroma_tenant', { scope: '', name: tenant })) !== undefined
  );
}

async function databaseId({
  storage,
  params: { tenant = '', database = '' },
}: FakeRequest): Promise<string | undefined> {
  if (tenant === defaultTenant && database === defaultDatabase) return noId;
  return (await storage.findCollection('chroma_database', { scope: tenant, name: database }))?.id;
}

async function createTenant(request: FakeRequest): Promise<FakeResponse> {
  const name = stringMember(objectBody(request.body), 'name');
  checkLength(name);
  const added =
    name !== defaultTenant &&
    (await request.storage.addCollection({
      id: randomUUID(),
      store: 'chroma_tenant',
      scope: '',
      name,
      definition: {},
      createdAt: request.now,
    }));
  if (!added) throw conflict(`Tenant [${name}] already exists`);
  return jsonResponse(200, {});
}

async function getTenant(request: FakeRequest): Promise<FakeResponse> {
  const { tenant = '' } = request.params;
  if (!(await tenantExists(request, tenant))) throw notFound(`Tenant [${tenant}] not found`);
  return jsonResponse(200, { name: tenant, resource_name: null });
}

async function createDatabase(request: FakeRequest): Promise<FakeResponse> {
  const { tenant = '' } = request.params;
  const name = stringMember(objectBody(request.body), 'name');
  checkLength(name);
  if (!(await tenantExists(request, tenant))) throw notFound(`Tenant [${tenant}] not found`);
  const added =
    !(tenant === defaultTenant && name === defaultDatabase) &&
    (await request.storage.addCollection({
      id: randomUUID(),
      store: 'chroma_database',
      scope: tenant,
      name,
      definition: {},
      createdAt: request.now,
    }));
  if (!added) throw conflict(`Database [${name}] already exists`);
  return jsonResponse(200, {});
}

async function listDatabases({ storage, params: { tenant = '' } }: FakeRequest): Promise<FakeResponse> {
  const first = tenant === defaultTenant ? [{ id: noId, name: defaultDatabase, tenant }] : [];
  const others = await storage.listCollections('chroma_database', tenant);
  return jsonResponse(200, [...first, ...others.map(({ id, name }) => ({ id, name, tenant }))]);
}

async function getDatabase(request: FakeRequest): Promise<FakeResponse> {
  const { tenant = '', database = '' } = request.params;
  const id = await databaseId(request);
  if (id === undefined) throw notFound(`Database [${database}] not found. Are you sure it exists?`);
  return jsonResponse(200, { id, name: database, tenant });
}

async function deleteDatabase(request: FakeRequest): Promise<FakeResponse> {
  const id = await databaseId(request);
  if (id === undefined || id === noId) throw notFound(`Database [${request.params['database'] ?? ''}] not found`);
  for (const collection of await request.storage.listCollections('chroma', scopeOf(request)))
    await request.storage.removeCollection(collection.id);
  await request.storage.removeCollection(id);
  return jsonResponse(200, {});
}

function described(collection: StoredCollection): object {
  const { metadata, configuration, dimension } = definitionOf(collection);
  const [tenant, database] = JSON.parse(collection.scope) as [string, string];
  return {
    id: collection.id,
    name: collection.name,
    configuration_json: configuration,
    metadata,
    dimension,
    tenant,
    database,
    log_position: 0,
    version: 0,
  };
}

async function createCollection(request: FakeRequest): Promise<FakeResponse> {
  const body = objectBody(request.body);
  const name = stringMember(body, 'name');
  checkName(name);
  const configuration = readConfiguration(body['configuration']);
  if ((await databaseId(request)) === undefined)
    throw invalidArgument(`Database [${request.params['database'] ?? ''}] does not exist`);
  const definition: ChromaDefinition = {
    metadata: isRecord(body['metadata']) ? body['metadata'] : null,
    configuration,
    dimension: null,
    sequence: 0,
  };
  const collection: StoredCollection = {
    id: randomUUID(),
    store: 'chroma',
    scope: scopeOf(request),
    name,
    definition: { ...definition },
    createdAt: request.now,
  };
  if (await request.storage.addCollection(collection)) return jsonResponse(200, described(collection));
  if (body['get_or_create'] !== true) throw conflict(`Collection [${name}] already exists`);
  return jsonResponse(200, described(await byName(request, name)));
}

async function byName(request: FakeRequest, name: string): Promise<StoredCollection> {
  const collection = await request.storage.findCollection('chroma', { scope: scopeOf(request), name });
  if (!collection) throw notFound(`Collection [${name}] does not exists`);
  return collection;
}

/** @throws Refusal 404, or 400 where the path holds no UUID. */
export async function collectionById({
  storage,
  params: { collection: id = '' },
}: FakeRequest): Promise<StoredCollection> {
  if (!isUuid(id)) throw invalidArgument('Collection ID is not a valid UUIDv4');
  const collection = await storage.findCollection('chroma', { id: id.toLowerCase() });
  if (!collection) throw notFound(`Collection [${id}] does not exists.`);
  return collection;
}

export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

async function listCollections(request: FakeRequest): Promise<FakeResponse> {
  const all = [...(await request.storage.listCollections('chroma', scopeOf(request)))].sort((left, right) =>
    left.name < right.name ? -1 : 1,
  );
  const offset = Number(request.query.get('offset') ?? 0);
  const limit = Number(request.query.get('limit') ?? all.length);
  return jsonResponse(200, all.slice(offset, offset + limit).map(described));
}

async function updateCollection(request: FakeRequest): Promise<FakeResponse> {
  const collection = await collectionById(request);
  const { new_name: name, new_metadata: metadata } = objectBody(request.body);
  if (typeof name === 'string') checkName(name);
  const changed = await request.storage.changeCollection({
    ...collection,
    ...(typeof name === 'string' && { name }),
    definition: { ...collection.definition, ...(isRecord(metadata) && { metadata }) },
  });
  if (!changed) throw conflict(`Collection [${String(name)}] already exists`);
  return jsonResponse(200, {});
}

async function deleteCollection(request: FakeRequest): Promise<FakeResponse> {
  await request.storage.removeCollection((await byName(request, request.params['collection'] ?? '')).id);
  return jsonResponse(200, {});
}

const hnswDefaults = {
  space: 'l2',
  ef_construction: 100,
  ef_search: 100,
  max_neighbors: 16,
  resize_factor: 1.2,
  sync_threshold: 1000,
};

function readConfiguration(given: unknown): Readonly<Record<string, unknown>> {
  const { hnsw, embedding_function: embeddingFunction = null } = asRecord(given);
  const settings = {
    ...hnswDefaults,
    ...(isRecord(hnsw) && Object.fromEntries(Object.entries(hnsw).filter(([, value]) => value !== null))),
  };
  if (!['l2', 'cosine', 'ip'].includes(settings.space)) {
    throw unreadable(
      `configuration.hnsw.space: unknown variant \`${settings.space}\`, expected one of \`l2\`, \`cosine\`, \`ip\``,
    );
  }
  return { hnsw: settings, spann: null, embedding_function: embeddingFunction };
}

function checkLength(name: string): void {
  if (name.length < 3)
    throw invalidArgument(
      `Validation error: name: Validation error: length [{"min": Number(3), "value": String(${JSON.stringify(name)})}]`,
    );
}

function checkName(name: string): void {
  if (/^[a-zA-Z0-9][a-zA-Z0-9._-]{1,510}[a-zA-Z0-9]$/.test(name)) return;
  throw invalidArgument(
    `Validation error: name: Expected a name containing 3-512 characters from [a-zA-Z0-9._-], starting ` +
      `and ending with a character in [a-zA-Z0-9]. Got: ${name}`,
  );
}

const database = '/api/v2/tenants/(?<tenant>[^/]+)/databases/(?<database>[^/]+)';
const at = (path: string): RegExp => new RegExp(`^${path}$`);

/** Tenants, databases and collections. */
export const chromaCollectionRoutes: readonly FakeRoute[] = [
  { method: 'POST', path: at('/api/v2/tenants'), handle: createTenant },
  { method: 'GET', path: at('/api/v2/tenants/(?<tenant>[^/]+)'), handle: getTenant },
  { method: 'GET', path: at('/api/v2/tenants/(?<tenant>[^/]+)/databases'), handle: listDatabases },
  { method: 'POST', path: at('/api/v2/tenants/(?<tenant>[^/]+)/databases'), handle: createDatabase },
  { method: 'GET', path: at(database), handle: getDatabase },
  { method: 'DELETE', path: at(database), handle: deleteDatabase },
  { method: 'GET', path: at(`${database}/collections`), handle: listCollections },
  { method: 'POST', path: at(`${database}/collections`), handle: createCollection },
  {
    method: 'GET',
    path: at(`${database}/collections_count`),
    handle: async (request) =>
      jsonResponse(200, (await request.storage.listCollections('chroma', scopeOf(request))).length),
  },
  {
    method: 'GET',
    path: at(`${database}/collections/(?<collection>[^/]+)`),
    handle: async (request) => jsonResponse(200, described(await byName(request, request.params['collection'] ?? ''))),
  },
  { method: 'PUT', path: at(`${database}/collections/(?<collection>[^/]+)`), handle: updateCollection },
  { method: 'DELETE', path: at(`${database}/collections/(?<collection>[^/]+)`), handle: deleteCollection },
];
