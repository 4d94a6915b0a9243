import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import type { JsonSchema } from '#plugin-api';
import { translateSchema } from '../../../host/rest/openapi/schema.ts';
import { compileStrictCheck } from '../../../host/rest/schema/strict-check.ts';
import { readRecording } from '../../oracle/replay.ts';

interface Recorded {
  readonly id: number;
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly valid: boolean;
}

const recorded = readRecording('schema.jsonl.gz')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded);

describe('schemas of WordPress as JSON Schema 2020-12', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });

  it('are valid, all that were recorded', () => {
    const errors = recorded
      .filter(({ schema }) => ajv.validateSchema(translateSchema(schema)) !== true)
      .map(({ id }) => id);
    expect(errors).to.deep.equal([]);
  });

  it('take every value that the host takes as it is', () => {
    const strict = recorded.filter(({ schema, value }) => compileStrictCheck(schema)(value));
    expect(strict.length).to.be.above(500);
    expect(strict.filter(({ schema, value }) => !ajv.validate(translateSchema(schema), value))).to.deep.equal([]);
  });

  it('take none that WordPress refuses for more than its format', () => {
    const wrong = recorded.filter(
      ({ schema, value, valid }) =>
        !valid && !JSON.stringify(schema).includes('"format"') && ajv.validate(translateSchema(schema), value),
    );
    // Of `list or number` WordPress reads a number as a list of one, and finds that it is not a list of objects.
    expect(wrong.map(({ id }) => id)).to.deep.equal([720]);
  });
});
