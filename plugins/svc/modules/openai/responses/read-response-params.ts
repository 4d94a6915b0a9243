import { asRecord, isRecord } from '#plugin-api';
import { aiParamSchemas, type AiParams } from '../../../kit/ai-params.ts';
import { textHints } from '../../../kit/text-hints.ts';
import type { ResponseFormat, TextExtras, ToolChoice, ToolDefinition } from '../../../kit/tools.ts';
import type { LostMembers } from './read-input.ts';

type Members = Readonly<Record<string, unknown>>;

/** Parameters that only have an effect with other values than these. */
const harmless: Readonly<Record<string, readonly unknown[]>> = {
  truncation: ['disabled'],
  service_tier: ['auto', 'default'],
  top_logprobs: [0],
  background: [false],
  include: [[]],
  context_management: [[]],
};

/** Parameters that do not change the answer, or hardly. */
const sparable: readonly string[] = [
  ...['truncation', 'max_tool_calls', 'stream_options', 'include', 'context_management', 'background'],
];

/** Parameters that are read here, in `read-input.ts` or by the caller. */
const read: readonly string[] = [
  ...['model', 'input', 'instructions', 'stream', 'temperature', 'top_p', 'max_output_tokens', 'reasoning', 'text'],
  ...['tools', 'tool_choice', 'parallel_tool_calls', 'user', 'previous_response_id', 'conversation'],
];

/** The parameters of a request in the words of this service. What these cannot say is noted in `lost`. */
export function readResponseParams(body: Members, lost: LostMembers): { params: AiParams; extras: TextExtras } {
  for (const [name, value] of Object.entries(body)) {
    if (value === null || read.includes(name) || isHint(name) || isHarmless(name, value)) continue;
    (sparable.includes(name) ? lost.spared : lost.needed).push(name);
  }
  return { params: readAiParams(body, lost), extras: readExtras(body, lost) };
}

const isHint = (name: string): boolean => textHints.some((hint) => hint === name);

/** Reasoning is always returned in a form that can be sent back. */
function isHarmless(name: string, value: unknown): boolean {
  const values = [...(harmless[name] ?? []), ...(name === 'include' ? [['reasoning.encrypted_content']] : [])];
  return values.some((one) => JSON.stringify(one) === JSON.stringify(value));
}

const efforts: readonly string[] = aiParamSchemas.reasoning_effort.enum;

function readAiParams(body: Members, lost: LostMembers): AiParams {
  const { temperature, top_p, max_output_tokens: limit } = body;
  const { effort, ...others } = asRecord(body['reasoning']);
  lost.spared.push(...givenNames(others, 'reasoning'));
  const isKnown = typeof effort === 'string' && efforts.includes(effort);
  // Efforts above the highest known one.
  if (typeof effort === 'string' && !isKnown) lost.spared.push('reasoning.effort');
  const nearest = isKnown ? effort : 'high';
  return {
    ...(isGiven(temperature) && { temperature: temperature as number }),
    ...(isGiven(top_p) && { top_p: top_p as number }),
    ...(isGiven(limit) && { max_completion_tokens: limit as number }),
    ...(isGiven(effort) && { reasoning_effort: nearest as NonNullable<AiParams['reasoning_effort']> }),
  };
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

function givenNames(members: Members, name: string): string[] {
  return Object.keys(members)
    .filter((member) => isGiven(members[member]))
    .map((member) => `${name}.${member}`);
}

function readExtras(body: Members, lost: LostMembers): TextExtras {
  const { format, verbosity, ...others } = asRecord(body['text']);
  if (isGiven(verbosity) && verbosity !== 'medium') lost.spared.push('text.verbosity');
  lost.needed.push(...givenNames(others, 'text'));
  const tools = readTools(body['tools'], lost);
  const choice = readToolChoice(body['tool_choice'], tools);
  if (choice === null) lost.needed.push('tool_choice');
  const hints = textHints.filter((hint) => hint !== 'user' && isGiven(body[hint]));
  const hasTools = tools.length > 0;
  return {
    tools: hasTools ? tools : undefined,
    toolChoice: hasTools ? (choice ?? undefined) : undefined,
    parallelToolCalls: hasTools && body['parallel_tool_calls'] === false ? false : undefined,
    format: readFormat(format, lost),
    endUser: typeof body['user'] === 'string' ? body['user'] : undefined,
    ...(hints.length > 0 && { hints: Object.fromEntries(hints.map((hint) => [hint, body[hint]])) }),
  };
}

function readTools(given: unknown, lost: LostMembers): ToolDefinition[] {
  if (!Array.isArray(given)) return [];
  return given.flatMap((tool: unknown, index) => {
    const { type, name, description, parameters, strict } = asRecord(tool);
    if (type !== 'function' || typeof name !== 'string' || !/^[\w-]{1,64}$/.test(name)) {
      lost.needed.push(`tools[${String(index)}]`);
      return [];
    }
    return {
      name,
      description: typeof description === 'string' ? description : undefined,
      parameters: isRecord(parameters) ? parameters : undefined,
      strict: strict === true ? true : undefined,
    };
  });
}

/** Null for a choice that no other format has. Without one the model chooses. */
function readToolChoice(given: unknown, tools: readonly ToolDefinition[]): ToolChoice | null | undefined {
  if (!isGiven(given) || given === 'auto') return undefined;
  if (given === 'none' || given === 'required') return given;
  const { type, name } = asRecord(given);
  return type === 'function' && typeof name === 'string' && tools.some((tool) => tool.name === name) ? { name } : null;
}

function readFormat(given: unknown, lost: LostMembers): ResponseFormat | undefined {
  const { type = 'text', name, schema, description, strict } = asRecord(given);
  if (type === 'text') return undefined;
  if (type === 'json_object') return { type };
  if (type !== 'json_schema' || typeof name !== 'string' || !isRecord(schema)) {
    lost.needed.push('text.format');
    return undefined;
  }
  return {
    type,
    name,
    schema,
    description: typeof description === 'string' ? description : undefined,
    strict: typeof strict === 'boolean' ? strict : undefined,
  };
}
