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
      for (const { path, method, operation } of operationsOf(document)) expect(operation['summary'], `a summary of its own: ${method} ${path}`).to.not.equal(`${method.toUpperCase()} ${path}`);
    });
  }

  it('say how the service’s key is sent (contract 5)', async () => {
    const document = (await host.rest.openapi('svc/v1'))!;
    expect(document.paths['/generate']!['post']!['security']).to.deep.equal([{ bearer: [] }, { query_svc_api_key: [] }]);
    expect(document.components['securitySchemes']!['query_svc_api_key']).to.include({ type: 'apiKey', in: 'query', name: 'svc_api_key' });
  });

  it('name the fields of POST /generate (contract 4.2)', async () => {
    const { paths } = (await host.rest.openapi('svc/v1'))!;
    const body = paths['/generate']!['post']!['requestBody'] as { content: { 'application/json': { schema: { properties: object; required: string[] } } } };
    const { properties, required } = body.content['application/json'].schema;
    expect(Object.keys(properties)).to.have.members(['provider', 'model', 'messages', 'system_instruction', 'ai_params', 'stream']);
    expect(required).to.deep.equal(['provider', 'model', 'messages']);
  });
});
