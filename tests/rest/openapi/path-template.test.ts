import { expect } from 'chai';
import { parameterSchema, pathTemplates } from '../../../host/rest/openapi/path-template.ts';

describe('paths of OpenAPI', () => {
  const cases: readonly (readonly [pattern: string, templates: readonly string[]])[] = [
    ['/', ['/']],
    ['/posts', ['/posts']],
    ['/posts/(?P<id>[\\d]+)', ['/posts/{id}']],
    ['/posts/(?P<parent>\\d+)/revisions/(?P<id>\\d+)', ['/posts/{parent}/revisions/{id}']],
    [
      '/users/(?P<user_id>(?:[\\d]+|me))/application-passwords/(?P<uuid>[\\w\\-]+)',
      ['/users/{user_id}/application-passwords/{uuid}'],
    ],
    ['/templates/(?P<id>([^\\/:<>\\*\\?"\\|]+(?:\\/[^\\/:<>\\*\\?"\\|]+)?)[\\/\\w%-]+)', ['/templates/{id}']],
    ['/plugins/(?P<plugin>[^.\\/]+(?:\\/[^.\\/]+)?)', ['/plugins/{plugin}']],
    ['/files/(?P<name>[^)(]+)\\.json', ['/files/{name}.json']],
    ['/items(?:/(?P<id>\\d+))?', ['/items', '/items/{id}']],
    ['/(?:colours|colors)/(?P<id>\\d+)', ['/colours/{id}', '/colors/{id}']],
    ['/items/?', ['/items']],
    ['/v[0-9]+/items', ['/v{part1}/items']],
    ['/(?:a/)+b', ['/{part1}b']],
  ];
  for (const [pattern, templates] of cases) {
    it(`of ${pattern} are ${templates.join(' and ')}`, () => {
      expect(pathTemplates(pattern).map(({ template }) => template)).to.deep.equal(templates);
    });
  }

  it('know what a part looks like', () => {
    const schemas = ['\\d+', '[\\d]+', '\\d{4}', '[^/]+', 'one|two', '(?:one|two)', '[a-z]+'].map((pattern) =>
      parameterSchema({ name: 'a', pattern }),
    );
    expect(schemas).to.deep.equal([
      { type: 'integer' },
      { type: 'integer' },
      { type: 'integer' },
      { type: 'string' },
      { type: 'string', enum: ['one', 'two'] },
      { type: 'string', enum: ['one', 'two'] },
      { type: 'string', pattern: '^(?:[a-z]+)$' },
    ]);
  });

  it('do not grow without bound where much may be left out', () => {
    expect(pathTemplates('/(?:a)?/(?:b)?/(?:c)?/(?:d)?/(?:e)?/(?:f)?')).to.have.length.at.most(16);
  });
});
