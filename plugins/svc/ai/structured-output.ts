import { requireComplete } from './require-complete.ts';
import { checkValue, type JsonSchema, withoutUndefined } from '#plugin-api';
import { asProviderError, type TextRequest } from '../providers/provider.ts';
import { errors } from '../kit/errors.ts';
import type { ResponseFormat, TextFeature } from '../kit/tools.ts';
import type { GeneratedText, GenerateText, GenerateTextInput } from './generate-text.ts';

/** Data that a model returns instead of a text. */
export interface OutputFormat {
  /** Letters, digits, underscores and hyphens; at most 64. */
  readonly name: string;
  /** Of an object. OpenAI enforces it only if each object requires all its members; they may be null. */
  readonly schema: JsonSchema;
}

/**
 * Holds the model to the schema in the way of its provider. A model that cannot be held to it gets the schema with its
 * instructions, and JSON mode if it has one.
 */
export function requestOutput(
  request: TextRequest,
  output: OutputFormat,
  supports: (feature: TextFeature) => boolean,
): TextRequest {
  if (supports('response_format.json_schema')) return { ...request, format: formatOf(output) };
  const described = describeOutput(request, output);
  return supports('response_format.json_object') ? { ...described, format: { type: 'json_object' } } : described;
}

/** The schema as instructions alone, for a model that supports no format. */
export function describeOutput({ format: _format, ...request }: TextRequest, { schema }: OutputFormat): TextRequest {
  const instruction = `Return only a JSON object that matches this JSON Schema, and no other text:\n${JSON.stringify(schema)}`;
  return { ...request, system: request.system === null ? instruction : `${request.system}\n\n${instruction}` };
}

/** Whether an upstream refused the format, as models do that are older than their provider's documentation. */
export function refusesFormat(error: unknown): boolean {
  const refusal = asProviderError(error);
  return (
    refusal?.kind === 'rejected' &&
    /response_?(?:format|mime|json|schema)|output.?(?:config|format)|json.?(?:schema|mode|object)|\bschema/i.test(
      refusal.message,
    )
  );
}

function formatOf({ name, schema }: OutputFormat): ResponseFormat {
  const isClosed = requiresAll(schema);
  return { type: 'json_schema', name, schema: enforceable(schema), ...(isClosed && { strict: true }) };
}

/** The keywords that every provider enforces; Anthropic and OpenAI refuse others. The response is checked by all. */
function enforceable({ type, description, enum: values, required, ...schema }: JsonSchema): Record<string, unknown> {
  const { properties, items, anyOf } = schema;
  return {
    ...withoutUndefined({ type, description, enum: values }),
    ...(Array.isArray(required) && { required }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, enforceable(member)])),
      additionalProperties: false,
    }),
    ...(items && { items: enforceable(items) }),
    ...(anyOf && { anyOf: anyOf.map(enforceable) }),
  };
}

function requiresAll({ properties = {}, required, items, anyOf = [] }: JsonSchema): boolean {
  const names: readonly string[] = Array.isArray(required) ? required : [];
  const inside = [...Object.values(properties), ...anyOf, ...(items ? [items] : [])];
  return Object.keys(properties).every((name) => names.includes(name)) && inside.every(requiresAll);
}

type ReadOutput = { readonly data: unknown } | { readonly problem: string };

/** The JSON object in a response, which a model may surround with a code fence or remarks. */
function readOutput(content: string, schema: JsonSchema): ReadOutput {
  let data: unknown;
  try {
    data = JSON.parse(content.slice(content.indexOf('{'), content.lastIndexOf('}') + 1));
  } catch {
    return { problem: 'The response is not a JSON object.' };
  }
  const found = Object.values(checkValue(schema, data).errors);
  return found.length === 0 ? { data } : { problem: found.slice(0, 20).join(' ') };
}

/**
 * A text that is data. Data that does not match the schema is sent back once, with what is wrong; both calls count.
 *
 * @throws RestError 502 `rest_svc_output_invalid`, or `rest_svc_output_cut` at the length limit
 */
export async function generateOutput(
  generateText: GenerateText,
  { output, ...input }: GenerateTextInput & { readonly output: OutputFormat },
): Promise<GeneratedText> {
  // Pieces of JSON are of no use.
  const call = { ...input, output, onText: undefined };
  const first = await generateText(call);
  const read = readOutput(first.content, output.schema);
  if ('data' in read) return { ...first, data: read.data };
  requireComplete(first);
  const repair = `${read.problem} Return the whole JSON object again, corrected.`;
  const second = await generateText({
    ...call,
    messages: [...input.messages, { role: 'assistant', content: first.content }, { role: 'user', content: repair }],
  });
  const repaired = readOutput(second.content, output.schema);
  if ('data' in repaired) return { ...second, ...addSpent(first, second), data: repaired.data };
  requireComplete(second);
  const { provider, model } = second;
  throw errors.output_invalid({ values: { provider, model, problem: repaired.problem } });
}

function addSpent(first: GeneratedText, second: GeneratedText): Pick<GeneratedText, 'usage' | 'cost'> {
  const sum = (name: keyof GeneratedText['usage']): number => first.usage[name] + second.usage[name];
  return {
    usage: {
      input_tokens: sum('input_tokens'),
      output_tokens: sum('output_tokens'),
      total_tokens: sum('total_tokens'),
    },
    cost: first.cost === null || second.cost === null ? null : first.cost + second.cost,
  };
}
