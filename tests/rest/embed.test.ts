import { expect } from 'chai';
import { RestResponse } from '#plugin-api';
import type { RestLink } from '#plugin-api';
import { administrator, startRestSite, visitor } from './site.ts';
import type { RestSite } from './site.ts';

type Linked = Record<string, unknown> & {
  readonly _links: Record<string, RestLink[]>;
  readonly _embedded?: Record<string, Record<string, unknown>[]>;
};

describe('links and what is embedded', () => {
  let site: RestSite;
  let served: string[];
  beforeEach(async () => {
    served = [];
    site = await startRestSite({
      currentUser: ({ headers }) => (headers['authorization'] === 'admin' ? administrator : visitor),
    });
    const { rest } = site;
    const link = (path: string): RestLink => ({ href: rest.url(`/test/v1${path}`), embeddable: true });
    rest.registerRoute('test/v1', '/people/{id}', {
      handler: ({ params, route }) => {
        served.push(`${route}?context=${String(params['context'] ?? '')}`);
        return new RestResponse({ body: { id: params['id'] }, links: { friend: [link('/people/2')] } });
      },
    });
    rest.registerRoute('test/v1', '/private', {
      permission: ({ user }) => user.can('read'),
      handler: () => ({ secret: true }),
    });
    rest.registerRoute('test/v1', '/posts', {
      handler: () => [1, 2].map((id) => ({ id, _links: { author: [link('/people/7')] } })),
    });
    rest.registerRoute('test/v1', '/post', {
      handler: () =>
        new RestResponse({
          body: { id: 1 },
          links: {
            author: [link('/people/7')],
            private: [link('/private')],
            gone: [link('/gone')],
            elsewhere: [{ href: 'https://elsewhere.example/wp-json/test/v1/people/1', embeddable: true }],
            'https://api.w.org/term': [{ ...link('/people/3?context=view'), taxonomy: 'category' }],
          },
        }),
    });
  });
  afterEach(() => site.stop());

  const get = async (path: string, headers: Record<string, string> = {}): Promise<Linked> =>
    (await site.fetch(`/wp-json/test/v1${path}`, { headers })).json() as Promise<Linked>;

  it('shorten relations of a known vocabulary, and name it', async () => {
    const { _links } = await get('/post');
    expect(Object.keys(_links)).to.deep.equal(['author', 'private', 'gone', 'elsewhere', 'wp:term', 'curies']);
    expect(_links['curies']).to.deep.equal([{ name: 'wp', href: 'https://api.w.org/{rel}', templated: true }]);
  });

  it('take further vocabularies from rest_response_link_curies', async () => {
    site.hooks.addFilter('rest_response_link_curies', (curies) => [
      ...curies,
      { name: 'ex', href: 'https://elsewhere.example/{rel}', templated: true },
    ]);
    site.rest.registerRoute('test/v1', '/ex', {
      handler: () =>
        new RestResponse({ body: {}, links: { 'https://elsewhere.example/thing': [{ href: 'https://x.example/' }] } }),
    });
    expect(Object.keys((await get('/ex'))._links)).to.deep.equal(['ex:thing', 'curies']);
  });

  it('are requested in the context embed, unless the link names another', async () => {
    await get('/post?_embed');
    expect(served).to.deep.equal(['/test/v1/people/7?context=embed', '/test/v1/people/3?context=view']);
  });

  it('show errors instead of items the caller may not see', async () => {
    const { _embedded } = await get('/post?_embed');
    expect(_embedded!['private']).to.have.length(1);
    expect(_embedded!['private']![0]).to.include({ code: 'rest_forbidden' });
    expect(_embedded!['gone']![0]).to.include({ code: 'rest_no_route' });
    expect((await get('/post?_embed', { authorization: 'admin' }))._embedded!['private']![0]).to.deep.equal({
      secret: true,
    });
  });

  it('leave other sites alone', async () => {
    const { _links, _embedded } = await get('/post?_embed');
    expect(_links['elsewhere']).to.have.length(1);
    expect(_embedded).to.not.have.property('elsewhere');
  });

  it('go one level deep', async () => {
    const { _embedded } = await get('/people/7?_embed');
    expect(_embedded!['friend']![0]).to.have.property('_links').and.not.have.property('_embedded');
    expect(_embedded!['friend']![0]).to.not.have.property('_embedded');
  });

  it('are requested once for all items of a list', async () => {
    const items = (await get('/posts?_embed=author')) as unknown as Linked[];
    expect(items.map(({ _embedded }) => _embedded!['author']![0]!['id'])).to.deep.equal(['7', '7']);
    expect(served).to.have.length(1);
  });

  it('stay in the links of an envelope', async () => {
    const { body, status } = (await get('/post?_envelope&_embed=author')) as unknown as {
      body: Linked;
      status: number;
    };
    expect(status).to.equal(200);
    expect(body._embedded!['author']![0]).to.include({ id: '7' });
  });
});
