import { expect } from 'chai';
import type { OpenApiDocument } from '#plugin-api';
import { createTestHost } from '#testing';
import type { TestHost } from '#testing';
import { checkDocument, operationsOf } from './check-document.ts';

describe('the OpenAPI documents of what ships', () => {
  let host: TestHost;
  before(async () => {
    host = await createTestHost({ plugins: ['svc'] });
  });
  after(() => host.stop());

  for (const namespace of ['svc/v1', 'wp/v2', 'host/v1']) {
    it(`are valid: ${namespace}`, async () => {
      const response = await host.fetch(`/wp-json/${namespace}/openapi.json`);
      expect(response.status).to.equal(200);
      const document = (await response.json()) as OpenApiDocument;
      await checkDocument(document);
      expect(document.servers[0]!.url).to.equal(`${host.url}/wp-json/${namespace}`);
      for (const { path, method, operation } of operationsOf(document))
        expect(operation['summary'], `a summary of its own: ${method} ${path}`).to.not.equal(
          `${method.toUpperCase()} ${path}`,
        );
    });
  }

  it('are one document at the root, with the routes of every namespace and the events', async () => {
    const document = (await (await host.fetch('/wp-json/openapi.json')).json()) as OpenApiDocument;
    await checkDocument(document);
    expect(document.servers[0]!.url).to.equal(`${host.url}/wp-json`);
    expect(document.paths).to.include.keys('/svc/v1/generate', '/wp/v2/posts', '/host/v1/routes', '/batch/v1');
    expect(document).to.have.nested.property('webhooks.content\\.generated');
    expect(document.paths['/svc/v1/vector-stores/upsert']!['post']!['responses']).to.have.property('404');
  });

  it('say how the service’s key is sent (contract 5)', async () => {
    const document = (await host.rest.openapi('svc/v1'))!;
    expect(document.paths['/generate']!['post']!['security']).to.deep.equal([
      { bearer: [] },
      { query_svc_api_key: [] },
    ]);
    expect(document.components['securitySchemes']!['query_svc_api_key']).to.include({
      type: 'apiKey',
      in: 'query',
      name: 'svc_api_key',
    });
  });

  it('document the response of POST /generate (contract 7, D5)', async () => {
    const { responses } = (await host.rest.openapi('svc/v1'))!.paths['/generate']!['post'] as {
      responses: Record<string, { headers?: object; content?: object }>;
    };
    expect(Object.keys(responses)).to.include.members(['200', '400', '401', '413', '429', '500', '502', '504']);
    expect(Object.keys(responses['200']!.headers!)).to.deep.equal(['X-SVC-Ignored-Params', 'X-SVC-Usage-Estimated']);
    expect(responses['200']!.content).to.have.nested.property(
      'application/json.schema.$ref',
      '#/components/schemas/Text',
    );
    expect(responses['429']!.headers).to.have.property('Retry-After');
  });

  it('say that users are public as far as they have published, and who one is not', async () => {
    const { paths } = (await host.rest.openapi('wp/v2'))!;
    expect(
      ['/users', '/users/{id}', '/users/me'].map((path) =>
        (paths[path]!['get']!['security'] as object[]).some((way) => Object.keys(way).length === 0),
      ),
    ).to.deep.equal([true, true, false]);
    expect(paths['/users']!['get']!['responses'] as object).to.have.property('429');
  });

  it('name the fields of POST /generate (contract 4.2)', async () => {
    const { paths } = (await host.rest.openapi('svc/v1'))!;
    const body = paths['/generate']!['post']!['requestBody'] as {
      content: { 'application/json': { schema: { properties: object; required: string[] } } };
    };
    const { properties, required } = body.content['application/json'].schema;
    expect(Object.keys(properties)).to.have.members([
      'provider',
      'model',
      'messages',
      'system_instruction',
      'ai_params',
      'stream',
    ]);
    expect(required).to.deep.equal(['provider', 'model', 'messages']);
  });
});
