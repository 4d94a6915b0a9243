import { isRecord, type JsonSchema } from '#plugin-api';
import { schemaError } from './schema-error.ts';
import type { SchemaError } from './schema-error.ts';
import { listSentence } from './values.ts';

/** A value with the schema that contains the alternatives, and the check to run on each. */
interface Candidate {
  readonly value: unknown;
  readonly schema: JsonSchema;
  readonly param: string;
  readonly findSchemaError: (value: unknown, schema: JsonSchema, param: string) => SchemaError | null;
}

interface Refusal {
  readonly error: SchemaError;
  readonly schema: JsonSchema;
  readonly index: number;
}

/**
 * Finds the first match of `anyOf`, or the only match of `oneOf`; returns the error if there is none.
 * An alternative without a type inherits the type of its parent schema.
 */
export function findMatchingSchema(
  { value, schema, param, findSchemaError }: Candidate,
  keyword: 'anyOf' | 'oneOf',
): { readonly schema: JsonSchema } | SchemaError {
  const refusals: Refusal[] = [];
  const matches: { schema: JsonSchema; index: number }[] = [];
  for (const [index, alternative] of (schema[keyword] ?? []).entries()) {
    const candidate =
      alternative.type === undefined && schema.type !== undefined ? { ...alternative, type: schema.type } : alternative;
    const found = findSchemaError(value, candidate, param);
    if (found !== null) refusals.push({ error: found, schema: candidate, index });
    else if (keyword === 'anyOf') return { schema: candidate };
    else matches.push({ schema: candidate, index });
  }
  const [match] = matches;
  if (match === undefined) return noMatch({ value, param }, refusals);
  return matches.length === 1 ? match : severalMatches(param, matches);
}

function severalMatches(param: string, matches: readonly { schema: JsonSchema; index: number }[]): SchemaError {
  const titles = collectTitles(matches);
  const positions = { positions: matches.map(({ index }) => index) };
  const message =
    titles.length === matches.length
      ? `${param} matches ${listSentence(titles)}, but should match only one.`
      : `${param} matches more than one of the expected formats.`;
  return schemaError('rest_one_of_multiple_matches', message, positions);
}

/** Explains the alternative the caller most likely meant, else lists all. */
function noMatch({ value, param }: Pick<Candidate, 'value' | 'param'>, refusals: readonly Refusal[]): SchemaError {
  const meant = likeliest({ value, param }, refusals);
  if (meant !== undefined) return describeRefusal(param, meant);
  const titles = collectTitles(refusals);
  const message =
    titles.length === refusals.length
      ? `${param} is not a valid ${listSentence(titles)}.`
      : `${param} does not match any of the expected formats.`;
  return schemaError('rest_no_matching_schema', message);
}

function likeliest(
  { value, param }: Pick<Candidate, 'value' | 'param'>,
  refusals: readonly Refusal[],
): Refusal | undefined {
  if (refusals.length === 1) return refusals[0];
  const sameType = refusals.filter(
    ({ error: { code, data } }) => code !== 'rest_invalid_type' || (data !== null && data['param'] !== param),
  );
  if (sameType.length === 1) return sameType[0];
  if (sameType[0]?.schema.type !== 'object' || !isRecord(value)) return undefined;
  let best: Refusal | undefined;
  let most = 0;
  for (const refusal of sameType) {
    const shared = Object.keys(refusal.schema.properties ?? {}).filter((name) => Object.hasOwn(value, name)).length;
    if (shared > most) [best, most] = [refusal, shared];
  }
  return best;
}

function describeRefusal(param: string, { error: { message }, schema, index }: Refusal): SchemaError {
  const sentence =
    schema.title === undefined
      ? `${param} does not match the expected format. Reason: ${message}`
      : `${param} is not a valid ${schema.title}. Reason: ${message}`;
  return schemaError('rest_no_matching_schema', sentence, { position: index });
}

function collectTitles(items: readonly { readonly schema: JsonSchema }[]): string[] {
  return items.flatMap(({ schema }) => (schema.title === undefined ? [] : [schema.title]));
}
