import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'chai';

type SpecFile =
  | 'openai'
  | 'anthropic'
  | 'gemini'
  | 'ollama'
  | 'pinecone'
  | 'qdrant'
  | 'chroma'
  | 'openai-embeddings'
  | 'openai-images'
  | 'gemini-embeddings'
  | 'gemini-images';

const validators = new Map<string, ValidateFunction>();

/**
 * Checks a value against one schema of `tests/specs/<file>-answers.json`; files that hold requests and answers are named whole.
 *
 * @param leftOut members that the specification requires and this speaker of the format truly does not send.
 */
export function expectShape(
  file: SpecFile,
  name: string,
  { value, leftOut = [] }: { value: unknown; leftOut?: readonly string[] },
): void {
  const validate = validator(file, name, leftOut);
  expect(
    validate(value),
    `${name}: ${JSON.stringify(validate.errors?.slice(0, 3))}\n${JSON.stringify(value)}`,
  ).to.equal(true);
}

function validator(file: SpecFile, name: string, leftOut: readonly string[]): ValidateFunction {
  const key = [file, name, ...leftOut].join(' ');
  const known = validators.get(key);
  if (known) return known;
  const text = readFileSync(
    new URL(`../../specs/${file.includes('-') ? file : `${file}-answers`}.json`, import.meta.url),
    'utf8',
  );
  const { $defs } = JSON.parse(text, (member, value: unknown) =>
    member === 'required' && Array.isArray(value) ? value.filter((entry: string) => !leftOut.includes(entry)) : value,
  ) as { $defs: object };
  const compiled = new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).compile({
    $defs,
    $ref: `#/$defs/${name}`,
  });
  validators.set(key, compiled);
  return compiled;
}
