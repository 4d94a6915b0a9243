import { expect } from 'chai';
import { RestError } from '#plugin-api';
import type { OpenApiDocument, OpenApiObject, RouteDefinition } from '#plugin-api';
import { registerOracleRoutes } from '../../oracle/rest-routes.ts';
import { startRestSite } from '../site.ts';
import type { RestSite } from '../site.ts';
import { checkDocument, compile, operationsOf } from './check-document.ts';

describe('the OpenAPI document of a namespace', () => {
  let site: RestSite;
  beforeEach(async () => {
    site = await startRestSite();
  });
  afterEach(() => site.stop());

  const read = async (namespace: string): Promise<OpenApiDocument> => {
    const response = await site.fetch(`/wp-json/${namespace}/openapi.json`);
    expect(response.status).to.equal(200);
    return (await response.json()) as OpenApiDocument;
  };
  const register = (
    route: string,
    definition: Partial<RouteDefinition> | readonly Partial<RouteDefinition>[],
  ): void => {
    const definitions = [definition].flat() as readonly Partial<RouteDefinition>[];
    site.rest.registerRoute(
      'test/v1',
      route,
      definitions.map((each) => ({ handler: () => null, ...each })),
    );
  };
  const one = async (route: string, definition: Partial<RouteDefinition>): Promise<OpenApiObject> => {
    register(route, definition);
    const document = await read('test/v1');
    await checkDocument(document);
    return operationsOf(document).at(-1)!.operation;
  };
  const bodySchema = (operation: OpenApiObject): OpenApiObject =>
    (operation['requestBody'] as { content: Record<string, { schema: OpenApiObject }> }).content['application/json']!
      .schema;

  it('is valid for every shape of route that WordPress knows', async () => {
    registerOracleRoutes(site.rest);
    const document = await read('anch/v1');
    await checkDocument(document);
    expect(document.openapi).to.equal('3.1.0');
    expect(document.info).to.include({ title: 'Oracle: anch/v1', version: 'v1' });
    expect(document.servers).to.deep.equal([{ url: `${site.url}/wp-json/anch/v1` }]);
    expect(Object.keys(document.paths)).to.include.members(['/', '/echo/{id}', '/types', '/err/{k}', '/items']);
    expect(Object.keys(document.paths['/echo/{id}']!)).to.deep.equal(['get', 'post', 'put', 'patch', 'delete']);
  });

  it('is there for the root, and not for a namespace without routes', async () => {
    const document = (await (await site.fetch('/wp-json/openapi.json')).json()) as OpenApiDocument;
    await checkDocument(document);
    expect(Object.keys(document.paths)).to.deep.equal(['/', '/batch/v1']);
    expect((await site.fetch('/wp-json/none/v1/openapi.json')).status).to.equal(404);
    expect(await site.rest.openapi('none/v1')).to.equal(null);
  });

  it('is removed with the last route of its namespace', async () => {
    const undo = site.rest.registerRoute('test/v1', '/a', { handler: () => null });
    await read('test/v1');
    undo();
    expect((await site.fetch('/wp-json/test/v1/openapi.json')).status).to.equal(404);
  });

  it('leaves out hidden routes, itself among them', async () => {
    register('/shown', {});
    register('/hidden', { showInIndex: false });
    register('/half', [{ showInIndex: false }, { methods: ['POST'] }]);
    const { paths } = await read('test/v1');
    expect(Object.keys(paths)).to.deep.equal(['/', '/shown', '/half']);
    expect(Object.keys(paths['/half']!)).to.deep.equal(['post']);
    expect(await (await site.fetch('/wp-json/test/v1')).text()).to.not.include('openapi.json');
  });

  it('shows the first of two definitions of a method', async () => {
    register('/a', [{ summary: 'first' }, { methods: ['GET', 'POST'], summary: 'second' }]);
    const { paths } = await read('test/v1');
    expect(Object.entries(paths['/a']!).map(([method, { summary }]) => [method, summary])).to.deep.equal([
      ['get', 'first'],
      ['post', 'second'],
    ]);
  });

  it('keeps paths apart that differ in the names of their parameters alone', async () => {
    register('/posts/(?P<id>\\d+)', { args: { id: { type: 'integer', minimum: 1 } } });
    register('/posts/(?P<slug>[a-z-]+)', [
      { summary: 'by slug', args: { slug: { type: 'string', maxLength: 20 } } },
      { methods: ['DELETE'], args: { slug: { type: 'string', maxLength: 20 } } },
    ]);
    const document = await read('test/v1');
    await checkDocument(document);
    expect(document.paths['/posts/{id}']!['get']!['parameters']).to.deep.include({
      name: 'id',
      in: 'path',
      required: true,
      schema: { type: 'integer', minimum: 1 },
    });
    expect(document.paths['/posts/{slug}#2']!['get']!['summary']).to.equal('by slug');
    expect(document.paths['/posts/{id}']!['delete']!['parameters']).to.deep.equal([
      { name: 'id', in: 'path', required: true, schema: { type: 'string', pattern: '^(?:[a-z-]+)$', maxLength: 20 } },
    ]);
  });

  describe('parameters', () => {
    it('of the path take the argument’s schema, else the pattern’s', async () => {
      const { parameters } = await one('/a/(?P<id>\\d+)/(?P<kind>one|two)/{rest}', {
        args: { id: { type: 'integer', minimum: 1, description: 'Which one.' } },
      });
      expect((parameters as unknown[]).slice(0, 3)).to.deep.equal([
        { name: 'id', in: 'path', required: true, description: 'Which one.', schema: { type: 'integer', minimum: 1 } },
        { name: 'kind', in: 'path', required: true, schema: { type: 'string', enum: ['one', 'two'] } },
        { name: 'rest', in: 'path', required: true, schema: { type: 'string' } },
      ]);
    });

    it('of the query are written as the host reads them', async () => {
      const args = {
        n: { type: 'integer', required: true },
        d: { type: 'integer', required: true, default: 7 },
        ids: { type: 'array', items: { type: 'integer' } },
        words: { type: 'array', items: { type: 'string' } },
        filter: { type: 'object', properties: { a: { type: 'integer' } } },
      } as const;
      const { parameters } = await one('/a', { args, handler: ({ params }) => params });
      expect(
        (parameters as OpenApiObject[]).map(({ name, required, style, explode }) => [
          name,
          required ?? false,
          style,
          explode,
        ]),
      ).to.deep.equal([
        ['n', true, undefined, undefined],
        ['d', false, undefined, undefined],
        ['ids', false, 'form', false],
        ['words[]', false, 'form', true],
        ['filter', false, 'deepObject', true],
        [undefined, false, undefined, undefined],
        [undefined, false, undefined, undefined],
      ]);
      const answer = await site.fetch('/wp-json/test/v1/a?n=1&ids=1,2&words[]=a,b&words[]=c&filter[a]=5');
      expect(await answer.json()).to.deep.equal({ n: 1, d: 7, ids: [1, 2], words: ['a,b', 'c'], filter: { a: 5 } });
    });

    it('of routes with a body are its members', async () => {
      const operation = await one('/a/(?P<id>\\d+)', {
        methods: ['PUT'],
        args: { id: { type: 'integer' }, name: { type: 'string', required: true }, size: { type: 'integer' } },
        bodyLimit: 2_000_000,
      });
      expect(bodySchema(operation)).to.deep.equal({
        type: 'object',
        properties: { name: { type: 'string' }, size: { type: 'integer' } },
        required: ['name'],
      });
      expect(operation['requestBody']).to.include({ required: true, description: 'At most 2,000,000 bytes.' });
    });
  });

  it('translates draft 4 and WordPress’s ways, and keeps WordPress’s formats', async () => {
    const schema = bodySchema(
      await one('/a', {
        methods: ['POST'],
        args: {
          ratio: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: false },
          more: { type: 'integer', exclusiveMinimum: 5 },
          author: {
            type: 'object',
            properties: {
              name: { type: 'string', required: true },
              colour: { type: 'string', format: 'hex-color' },
              mail: { type: 'string', format: 'email', context: ['edit'] },
            },
            additionalProperties: false,
          },
          note: { type: 'string', format: 'textarea-field', default: null },
          none: { type: ['string', 'null'], default: null },
          checked: { type: 'string', validate: () => true, sanitize: (value) => value },
        },
      }),
    );
    expect(schema['properties']).to.deep.equal({
      ratio: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
      more: { type: 'integer', exclusiveMinimum: 5 },
      author: {
        type: 'object',
        required: ['name'],
        additionalProperties: false,
        properties: {
          name: { type: 'string' },
          colour: { type: 'string', format: 'hex-color' },
          mail: { type: 'string', format: 'email' },
        },
      },
      note: { type: 'string', format: 'textarea-field' },
      none: { type: ['string', 'null'], default: null },
      checked: { type: 'string' },
    });
  });

  it('leaves out of a schema what would make the document invalid', async () => {
    const args = {
      a: {
        type: 'any',
        pattern: 7,
        enum: [],
        minimum: 'x',
        required: true,
        items: [{ type: 'string' }, { type: 'integer' }],
      },
    } as unknown as NonNullable<RouteDefinition['args']>;
    expect(bodySchema(await one('/a', { methods: ['POST'], args }))['properties']).to.deep.equal({
      a: { prefixItems: [{ type: 'string' }, { type: 'integer' }] },
    });
  });

  describe('responses', () => {
    it('have the route’s schema under its title, and the host’s errors that can meet a caller', async () => {
      const schema = {
        title: 'chat log',
        type: 'object',
        properties: { id: { type: 'integer', required: true } },
      } as const;
      register('/a/(?P<id>\\d+)', [
        { schema },
        { methods: ['POST'], args: { n: { type: 'integer' } }, permission: () => true },
      ]);
      const { paths, components } = await read('test/v1');
      expect(components['schemas']!['ChatLog']).to.deep.equal({
        title: 'chat log',
        type: 'object',
        properties: { id: { type: 'integer' } },
        required: ['id'],
      });
      const { get, post } = paths['/a/{id}'] as Record<string, { responses: Record<string, OpenApiObject> }>;
      expect(Object.keys(get!.responses)).to.deep.equal(['200', '404', '429', '500']);
      expect(Object.keys(post!.responses)).to.deep.equal(['200', '400', '401', '403', '404', '413', '429', '500']);
      expect(get!.responses['200']!['content']).to.deep.equal({
        'application/json': { schema: { $ref: '#/components/schemas/ChatLog' } },
      });
    });

    it('of a paged list are a list with its headers', async () => {
      const schema = { title: 'item', type: 'object' } as const;
      const { responses } = await one('/a', {
        schema,
        args: { page: { type: 'integer' }, per_page: { type: 'integer' } },
      });
      const answer = (responses as Record<string, OpenApiObject>)['200']!;
      expect(answer['content']).to.deep.equal({
        'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Item' } } },
      });
      expect(Object.keys(answer['headers'] as object)).to.deep.equal(['X-WP-Total', 'X-WP-TotalPages', 'Link']);
    });

    it('are those the route declares, instead of a plain 200', async () => {
      const { responses } = await one('/a', {
        methods: ['POST'],
        schema: { title: 'item', type: 'object' },
        responses: {
          201: { description: 'Made.', headers: { Location: 'Where it is.' } },
          409: { description: 'It is there already.' },
        },
      });
      const answers = responses as Record<string, OpenApiObject>;
      expect(Object.keys(answers)).to.deep.equal(['201', '409', '429', '500']);
      expect(answers['201']).to.deep.equal({
        description: 'Made.',
        headers: { Location: { description: 'Where it is.', schema: { type: 'string' } } },
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Item' } } },
      });
      expect(answers['409']!['content']).to.deep.equal({
        'application/json': { schema: { $ref: '#/components/schemas/Error' } },
      });
    });

    it('that are errors have the shape the document says', async () => {
      const additional = [new RestError({ code: 'more', message: 'More', status: 400, data: 'text' })];
      registerOracleRoutes(site.rest);
      site.rest.registerRoute('anch/v1', '/several', {
        handler: () => {
          throw new RestError({ code: 'one', message: 'One', status: 400, additional });
        },
      });
      const isError = compile(await read('anch/v1'), { $ref: '#/components/schemas/Error' });
      for (const path of [
        '/vroute',
        '/vroute?a=x&b=y',
        '/vroute?a=1',
        '/none',
        '/perm/false',
        '/err/err',
        '/err/strdata',
        '/several',
      ]) {
        const body: unknown = await (await site.fetch(`/wp-json/anch/v1${path}`)).json();
        expect(isError(body), JSON.stringify(body)).to.equal(true);
      }
      expect(isError({ code: 'a' })).to.equal(false);
    });
  });

  describe('ways in', () => {
    const securityOf = async (definition: Partial<RouteDefinition>): Promise<unknown> =>
      (await one('/a', definition))['security'];

    it('follow the route’s checks', async () => {
      register('/open', {});
      register('/checked', { permission: () => true });
      register('/keyed', { authenticate: () => {} });
      const { paths, components } = await read('test/v1');
      expect(['/open', '/checked', '/keyed'].map((path) => paths[path]!['get']!['security'])).to.deep.equal([
        [{}],
        [{ session: [], nonce: [] }, { application_password: [] }],
        [{ bearer: [] }],
      ]);
      expect(
        Object.fromEntries(
          Object.entries(components['securitySchemes']!).map(([name, { type, in: place, name: key, scheme }]) => [
            name,
            [type, place ?? scheme, key],
          ]),
        ),
      ).to.deep.equal({
        session: ['apiKey', 'cookie', 'svc_session'],
        nonce: ['apiKey', 'header', 'X-WP-Nonce'],
        application_password: ['http', 'basic', undefined],
        bearer: ['http', 'bearer', undefined],
      });
    });

    it('are those the route declares', async () => {
      expect(
        await securityOf({ permission: () => true, security: ['none', 'bearer', { name: 'my key', in: 'query' }] }),
      ).to.deep.equal([{}, { bearer: [] }, { query_my_key: [] }]);
    });
  });

  describe('the filter rest_openapi', () => {
    it('adds webhooks and whatever else', async () => {
      register('/a', {});
      site.hooks.addFilter('rest_openapi', async (document, namespace) => {
        await Promise.resolve();
        return {
          ...document,
          webhooks: {
            'thing.made': { post: { summary: `From ${namespace}`, responses: { 200: { description: 'Taken.' } } } },
          },
          'x-more': true,
        };
      });
      const document = await read('test/v1');
      await checkDocument(document);
      expect(document).to.deep.include({
        webhooks: {
          'thing.made': { post: { summary: 'From test/v1', responses: { 200: { description: 'Taken.' } } } },
        },
        'x-more': true,
      });
    });

    it('may change what it is given without a trace in the next document', async () => {
      register('/a', { args: { n: { type: 'integer', enum: [1, 2] } } });
      const undo = site.hooks.addFilter('rest_openapi', (document) => {
        document.paths['/a']!['get']!['summary'] = 'Changed.';
        document.components['schemas']!['Error']!['title'] = 'Changed.';
        return document;
      });
      expect((await read('test/v1')).paths['/a']!['get']!['summary']).to.equal('Changed.');
      undo();
      expect(JSON.stringify(await read('test/v1'))).to.not.include('Changed.');
    });
  });
});
