import { argumentBounds } from '#plugin-api';
import { expect } from 'chai';
import fc from 'fast-check';
import type { JsonSchema } from '#plugin-api';
import { compileStrictCheck } from '../../../host/rest/schema/strict-check.ts';
import { findSchemaError, sanitizeValue } from '../../../host/rest/schema/validate.ts';

const message = (value: unknown, schema: JsonSchema): string | null =>
  findSchemaError(value, schema, 'p')?.message ?? null;

describe('alternatives', () => {
  const titled: JsonSchema = {
    oneOf: [
      { title: 'number', type: 'integer' },
      { title: 'text', type: 'string' },
    ],
  };

  it('are tried in order, and the first that fits coerces', () => {
    const schema: JsonSchema = {
      anyOf: [
        { type: 'integer', minimum: 5 },
        { type: 'string', minLength: 3 },
      ],
    };
    expect(sanitizeValue('12', schema, 'p')).to.equal(12);
    expect(sanitizeValue('abc', schema, 'p')).to.equal('abc');
    expect(findSchemaError('2', schema, 'p')).to.deep.equal({
      code: 'rest_no_matching_schema',
      message: 'p does not match any of the expected formats.',
      data: null,
    });
  });

  it('name the one that was most likely meant', () => {
    const schema: JsonSchema = {
      anyOf: [
        { type: 'integer', minimum: 5 },
        { type: 'array', items: { type: 'integer' } },
      ],
    };
    expect(findSchemaError(true, { anyOf: [{ type: 'integer' }] }, 'p')?.data).to.deep.equal({ position: 0 });
    expect(message({ a: 1 }, schema)).to.equal('p does not match any of the expected formats.');
    expect(message(['x'], schema)).to.equal(
      'p does not match the expected format. Reason: p[0] is not of type integer.',
    );
  });

  it('name the object that shares most members', () => {
    const schema: JsonSchema = {
      anyOf: [
        {
          title: 'Cat',
          type: 'object',
          properties: { name: { type: 'string' }, lives: { type: 'integer', required: true } },
        },
        {
          title: 'Dog',
          type: 'object',
          properties: {
            name: { type: 'string' },
            breed: { type: 'string' },
            tricks: { type: 'array', required: true },
          },
        },
      ],
    };
    expect(message({ name: 'Rex', breed: 'pug' }, schema)).to.equal(
      'p is not a valid Dog. Reason: tricks is a required property of p.',
    );
  });

  it('of which only one may fit say when several do', () => {
    expect(findSchemaError('1', titled, 'p')).to.deep.equal({
      code: 'rest_one_of_multiple_matches',
      message: 'p matches number and text, but should match only one.',
      data: { positions: [0, 1] },
    });
    expect(message([], titled)).to.equal('p is not a valid number and text.');
    expect(sanitizeValue('a', titled, 'p')).to.equal('a');
  });

  it('take the type around them where they have none', () => {
    const schema: JsonSchema = { type: 'string', anyOf: [{ minLength: 3 }, { enum: ['a'] }] };
    expect([message('abc', schema), message('a', schema)]).to.deep.equal([null, null]);
    expect(message('b', schema)).to.equal('p does not match any of the expected formats.');
  });
});

describe('bounds', () => {
  it('may be exclusive by a switch or by a number of their own', () => {
    expect(message(5, { type: 'number', minimum: 5, exclusiveMinimum: true })).to.equal('p must be greater than 5');
    expect(message(5, { type: 'number', exclusiveMinimum: 5 })).to.equal('p must be greater than 5');
    expect(message(2, { type: 'number', minimum: 0, maximum: 2, exclusiveMaximum: true })).to.equal(
      'p must be between 0 (inclusive) and 2 (exclusive)',
    );
    expect(message(0.4, { type: 'number', minimum: 0.5 })).to.equal('p must be greater than or equal to 0.5');
  });

  it('are not named where every number keeps them', () => {
    const { maximum } = argumentBounds.anyInteger;
    expect(message(0, { type: 'integer', minimum: 1, maximum })).to.equal('p must be greater than or equal to 1');
  });
});

describe('the compiled check', () => {
  const type = fc.constantFrom<JsonSchema['type'] & string>('string', 'number', 'integer', 'boolean', 'null');
  const leaf = fc.oneof(
    fc.record({ type }),
    fc.record({ type: fc.uniqueArray(type, { minLength: 1, maxLength: 3 }) }),
    fc.record({
      type: fc.constant('string' as const),
      format: fc.constantFrom('email', 'uri', 'text-field', 'date-time', 'hex-color'),
    }),
    fc.record({
      type: fc.constant('string' as const),
      minLength: fc.nat(3),
      pattern: fc.constantFrom('^a', '[0-9]', 'é'),
    }),
    fc.record({
      type: fc.constant('number' as const),
      multipleOf: fc.constantFrom(0.1, 0.5, 3),
      minimum: fc.integer({ min: -5, max: 5 }),
    }),
    fc.record({ anyOf: fc.array(fc.record({ type }), { minLength: 1, maxLength: 2 }) }),
  );
  const schema = fc.letrec<{ schema: JsonSchema }>((tie) => ({
    schema: fc.oneof(
      { depthSize: 'small' },
      leaf as fc.Arbitrary<JsonSchema>,
      fc.record({ type: fc.constant('array' as const), items: tie('schema'), uniqueItems: fc.boolean() }),
      fc.record({
        type: fc.constantFrom('object' as const, ['object', 'array'] as const),
        properties: fc.record({ a: tie('schema'), b: tie('schema') }),
        additionalProperties: fc.boolean(),
      }),
    ),
  })).schema;
  const scalar = fc.oneof(
    fc.constantFrom(
      '',
      'a',
      '1',
      '0.8',
      'true',
      'a@b.co',
      '<b>x</b>',
      'http://x.y',
      '#fff',
      0,
      1,
      0.8,
      2.5,
      true,
      false,
      null,
    ),
    fc.double(),
    fc.string(),
  );
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      scalar,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'c', '0'), tie('value'), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).value;

  it('lets nothing pass that the rules refuse or change', () => {
    fc.assert(
      fc.property(schema, value, (rule, given) => {
        if (!compileStrictCheck(rule)(given)) return;
        expect(findSchemaError(given, rule, 'p')).to.equal(null);
        expect(sanitizeValue(given, rule, 'p')).to.deep.equal(given);
      }),
      { numRuns: 200 },
    );
  });

  it('lets no infinite number pass, which JSON can spell as 1e999', () => {
    for (const type of ['number', ['integer'], ['number', 'null']] as const)
      expect(compileStrictCheck({ type })(JSON.parse('1e999'))).to.equal(false);
  });

  it('never throws, whatever the value', () => {
    fc.assert(
      fc.property(schema, fc.anything(), (rule, given) => {
        compileStrictCheck(rule)(given);
        if (findSchemaError(given, rule, 'p') === null) sanitizeValue(given, rule, 'p');
      }),
      { numRuns: 150 },
    );
  });
});
