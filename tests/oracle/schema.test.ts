import { expect } from 'chai';
import type { JsonSchema } from '#plugin-api';
import { compileStrictCheck } from '../../host/rest/schema/strict-check.ts';
import { findSchemaError, sanitizeValue } from '../../host/rest/schema/validate.ts';
import { isSame, readRecording } from './replay.ts';
import { schemaExceptions } from './rest-exceptions.ts';

interface Recorded {
  readonly id: number;
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly valid: boolean;
  readonly error?: unknown;
  readonly sanitized?: unknown;
}

const recorded = readRecording('schema.jsonl.gz')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded);

describe('values checked and coerced as recorded from WordPress', () => {
  it('match in all pairs of schema and value but the named exceptions', () => {
    const missed = recorded.filter((row) => !matches(row)).map(({ id }) => id);
    expect(missed).to.deep.equal(Object.keys(schemaExceptions).map(Number));
    expect(missed.length).to.be.at.most(recorded.length * 0.005);
  });

  it('pass the compiled check only where they are right and stay as they are', () => {
    const passed = recorded.filter(({ schema, value }) => compileStrictCheck(schema)(value));
    const wrong = passed.filter(({ valid, value, sanitized }) => !valid || !isSame(value, sanitized));
    expect(wrong).to.deep.equal([]);
    expect(passed.length).to.be.above(500);
  });
});

function matches({ schema, value, valid, error, sanitized }: Recorded): boolean {
  const found = findSchemaError(value, schema, 'p');
  if (found !== null) return !valid && isSame(found, error);
  return valid && isSame(sanitizeValue(value, schema, 'p'), sanitized);
}
