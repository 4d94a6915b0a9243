import { expect } from 'chai';
import { RestResponse } from '#plugin-api';
import { startRestSite, visitor, type RestSite } from './site.ts';

describe('REST responses that a handler encodes itself', () => {
  let site: RestSite;
  before(async () => {
    site = await startRestSite({ currentUser: () => visitor });
    site.rest.registerRoute('test/v1', '/written', {
      // Distinguished by the member that the body lacks.
      handler: () =>
        new RestResponse({
          body: { id: 1, name: 'ä' },
          write: () => Buffer.from('{"id":1,"name":"ä","by":"handler"}'),
        }),
    });
  });
  after(() => site.stop());

  const answer = async (query = ''): Promise<{ headers: Headers; body: unknown }> => {
    const response = await site.fetch(`/wp-json/test/v1/written${query}`);
    return { headers: response.headers, body: await response.json() };
  };

  it('go out as they were written, with their length in bytes', async () => {
    const { headers, body } = await answer();
    expect(body).to.deep.equal({ id: 1, name: 'ä', by: 'handler' });
    expect(headers.get('content-length')).to.equal(String(Buffer.byteLength('{"id":1,"name":"ä","by":"handler"}')));
    expect(headers.get('content-type')).to.contain('application/json');
  });

  it('use the body with _fields or an envelope', async () => {
    expect((await answer('?_fields=name')).body).to.deep.equal({ name: 'ä' });
    expect((await answer('?_envelope')).body).to.deep.include({ status: 200, body: { id: 1, name: 'ä' } });
  });

  for (const name of ['rest_request_after_callbacks', 'rest_post_dispatch'] as const) {
    it(`use the body while ${name} has callbacks, which may change it in place`, async () => {
      const undo = site.hooks.addFilter(name, (response: unknown) => {
        (response as RestResponse).body = Object.assign((response as RestResponse).body as object, { seen: true });
        return response;
      });
      expect((await answer()).body).to.deep.equal({ id: 1, name: 'ä', seen: true });
      undo();
      expect((await answer()).body).to.deep.include({ by: 'handler' });
    });
  }
});
