import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';

type Definitions = Record<string, { properties?: Record<string, unknown>; required?: string[] }>;

const files = new Map<string, Definitions>();

function definitions(file: string): Definitions {
  const known = files.get(file);
  if (known) return known;
  const read = (JSON.parse(readFileSync(new URL(`../../specs/${file}-answers.json`, import.meta.url), 'utf8')) as { $defs: Definitions }).$defs;
  files.set(file, read);
  return read;
}

/**
 * Checks a value against one schema of `tests/specs/<file>-answers.json`.
 *
 * @param leftOut members that the specification requires and this speaker of the format truly does not send.
 */
export function expectShape(file: 'openai' | 'anthropic' | 'gemini' | 'ollama', name: string, { value, leftOut = [] }: { value: unknown; leftOut?: readonly string[] }): void {
  const $defs = JSON.parse(JSON.stringify(definitions(file)), (key, member: unknown) =>
    key === 'required' && Array.isArray(member) ? member.filter((entry: string) => !leftOut.includes(entry)) : member) as Definitions;
  const validate = new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).compile({ $defs, $ref: `#/$defs/${name}` });
  expect(validate(value), `${name}: ${JSON.stringify(validate.errors?.slice(0, 3))}\n${JSON.stringify(value)}`).to.equal(true);
}
