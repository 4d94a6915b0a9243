import { expect } from 'chai';
import { Linter } from 'eslint';
import regexp from 'eslint-plugin-regexp';
import type { JsonSchema } from '#plugin-api';
import type { TestHost } from '#testing';
import { createMigratedHost } from '../helpers/migrated.ts';

interface Argument {
  /** For example `POST /wp/v2/posts meta.svc_tags[]`. */
  readonly at: string;
  readonly schema: JsonSchema;
}

/** The schema and those inside it. */
function nested({ at, schema }: Argument): Argument[] {
  const { items, properties = {}, patternProperties = {}, additionalProperties, anyOf = [], oneOf = [] } = schema;
  const inside: Argument[] = [
    ...(items ? [{ at: `${at}[]`, schema: items }] : []),
    ...Object.entries({ ...properties, ...patternProperties }).map(([name, member]) => ({
      at: `${at}.${name}`,
      schema: member,
    })),
    ...(typeof additionalProperties === 'object' ? [{ at: `${at}.*`, schema: additionalProperties }] : []),
    ...[...anyOf, ...oneOf].map((alternative, index) => ({ at: `${at}|${String(index)}`, schema: alternative })),
  ];
  return [{ at, schema }, ...inside.flatMap(nested)];
}

/** The keywords that the schema lacks. */
function missingBounds(schema: JsonSchema): string[] {
  const { type, maxLength, maxItems, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  const types = type === undefined ? [] : [type].flat();
  if (schema.enum !== undefined || schema.const !== undefined) return [];
  return [
    ...(types.includes('string') && maxLength === undefined ? ['maxLength'] : []),
    ...(types.includes('array') && maxItems === undefined ? ['maxItems'] : []),
    ...(types.includes('integer') && (minimum ?? exclusiveMinimum) === undefined ? ['minimum'] : []),
    ...(types.includes('integer') && (maximum ?? exclusiveMaximum) === undefined ? ['maximum'] : []),
  ];
}

/** Complaints of the linter about an expression that takes more than linear time. */
function superLinear(pattern: string): string[] {
  const found = new Linter().verify(`new RegExp(${JSON.stringify(pattern)}, 'u');`, {
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }],
    },
  });
  return found.map(({ message }) => `${pattern}: ${message}`);
}

describe('the arguments of all routes', () => {
  let host: TestHost;
  let all: readonly Argument[];
  before(async () => {
    host = await createMigratedHost({ plugins: ['svc', 'sandbox'] });
    all = host.rest
      .describe()
      .flatMap(({ route, endpoints }) =>
        endpoints.flatMap(({ methods, args }) =>
          args.flatMap(({ name, schema }) => nested({ at: `${methods.join('|')} ${route} ${name}`, schema })),
        ),
      );
  });
  after(() => host.stop());

  it('have bounds: strings a length, lists a number of items, integers a range', () => {
    expect(all.length).to.be.greaterThan(300);
    const unbounded = all.flatMap(({ at, schema }) => missingBounds(schema).map((keyword) => `${at}: ${keyword}`));
    expect(unbounded).to.deep.equal([]);
  });

  it('have patterns that take linear time, as paths do', () => {
    const patterns = new Set(all.flatMap(({ schema }) => schema.pattern ?? []));
    // WordPress's pattern of a plugin's name. It has no suffix that could reject a text, so a match never starts again.
    expect(patterns.delete(String.raw`[^.\/]+(?:\/[^.\/]+)?`)).to.equal(true);
    const paths = host.rest.describe().map(({ route }) => `^${route.replaceAll('(?P<', '(?<')}$`);
    expect([...patterns, ...new Set(paths)].flatMap(superLinear)).to.deep.equal([]);
    expect(superLinear('(a+)+$')).to.have.length.at.least(1);
  });

  it('refuse huge numbers and long lists', async () => {
    const ids = Array.from({ length: 10_000 }, (_, index) => index + 1).join();
    for (const query of [
      'offset=99999999999999999999',
      'page=99999999999999999999',
      'include=99999999999',
      'slug=' + 'a,'.repeat(2_000),
    ])
      for (const path of ['/wp/v2/posts', '/wp/v2/users', '/wp/v2/media', '/wp/v2/pages'])
        expect((await host.fetch(`/wp-json${path}?${query}`)).status, `${path} ${query.slice(0, 40)}`).to.equal(400);
    for (const path of ['/wp/v2/posts', '/wp/v2/users', '/wp/v2/media'])
      for (const name of ['include', 'exclude']) {
        const response = await host.fetch(`/wp-json${path}?_method=GET`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ [name]: ids }),
        });
        expect(response.status, `${path} ${name}`).to.equal(400);
        expect(await response.json()).to.have.nested.property(`data.details.${name}.code`, 'rest_too_many_items');
      }
    for (const path of ['/wp/v2/posts', '/wp/v2/users', '/wp/v2/media', '/wp/v2/pages', '/wp/v2/comments'])
      expect((await host.fetch(`/wp-json${path}/99999999999999999999`)).status, path).to.equal(400);
  });
});
