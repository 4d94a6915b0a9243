import { asRecord, type Params } from '#plugin-api';
import type { ResponseFormat, TextExtras, ToolChoice, ToolDefinition } from '../../../kit/tools.ts';
import { textHints } from '../../../kit/text-hints.ts';
import { invalid, onlyMembers, optionalFlag, optionalText, requireObject } from '../../../kit/read-members.ts';

/** Tools, format and user of a request in the words of this service. @throws RestError 400 that names the parameter */
export function readExtras(params: Params): TextExtras {
  const tools = readTools(params['tools']);
  const toolChoice = readToolChoice(params['tool_choice'], tools ?? []);
  const parallelToolCalls = optionalFlag(params['parallel_tool_calls'], 'parallel_tool_calls');
  if (tools === undefined && toolChoice !== undefined && toolChoice !== 'none')
    throw invalid('tool_choice', 'is only allowed with tools.');
  const hints = textHints.filter((hint) => hint !== 'user' && params[hint] !== undefined);
  return {
    tools,
    // Without tools there is nothing to choose, and nothing to call in parallel; true is what all vendors do by default.
    toolChoice: tools && toolChoice,
    parallelToolCalls: tools && parallelToolCalls === false ? false : undefined,
    format: readFormat(params['response_format']),
    endUser: optionalText(params['user'], 'user'),
    ...(hints.length > 0 && { hints: Object.fromEntries(hints.map((hint) => [hint, params[hint]])) }),
  };
}

function readTools(given: unknown): ToolDefinition[] | undefined {
  if (!Array.isArray(given) || given.length === 0) return undefined;
  return given.map((tool: unknown, index) => readTool(tool, `tools[${String(index)}]`));
}

function readTool(given: unknown, name: string): ToolDefinition {
  const tool = requireObject(given, name);
  if (tool['type'] !== 'function') throw invalid(`${name}.type`, 'must be function.');
  onlyMembers(tool, name, ['type', 'function']);
  const path = `${name}.function`;
  const called = requireObject(tool['function'], path);
  onlyMembers(called, path, ['name', 'description', 'parameters', 'strict']);
  const parameters = called['parameters'] ?? undefined;
  return {
    name: functionName(called['name'], `${path}.name`),
    description: optionalText(called['description'], `${path}.description`),
    parameters: parameters === undefined ? undefined : requireObject(parameters, `${path}.parameters`),
    strict: optionalFlag(called['strict'], `${path}.strict`),
  };
}

/** @throws RestError 400 unless the name has 1 to 64 letters, digits, underscores and hyphens */
export function functionName(value: unknown, name: string): string {
  if (typeof value === 'string' && /^[\w-]{1,64}$/.test(value)) return value;
  throw invalid(name, 'must have 1 to 64 letters, digits, underscores and hyphens.');
}

function readToolChoice(given: unknown, tools: readonly ToolDefinition[]): ToolChoice | undefined {
  if (given === undefined) return undefined;
  if (given === 'auto' || given === 'none' || given === 'required') return given;
  const choice = asRecord(given);
  const called = asRecord(choice['function']);
  const tool = tools.find(({ name }) => name === called['name']);
  if (choice['type'] === 'function' && tool !== undefined) {
    onlyMembers(choice, 'tool_choice', ['type', 'function']);
    onlyMembers(called, 'tool_choice.function', ['name']);
    return { name: tool.name };
  }
  throw invalid('tool_choice', 'must be auto, none, required, or the name of one of the tools.');
}

function readFormat(given: unknown): ResponseFormat | undefined {
  if (given === undefined) return undefined;
  const format = requireObject(given, 'response_format');
  onlyMembers(format, 'response_format', format['type'] === 'json_schema' ? ['type', 'json_schema'] : ['type']);
  if (format['type'] === 'text') return undefined;
  if (format['type'] === 'json_object') return { type: 'json_object' };
  if (format['type'] !== 'json_schema')
    throw invalid('response_format.type', 'must be text, json_object or json_schema.');
  const path = 'response_format.json_schema';
  const schema = requireObject(format['json_schema'], path);
  onlyMembers(schema, path, ['name', 'description', 'schema', 'strict']);
  return {
    type: 'json_schema',
    name: functionName(schema['name'], `${path}.name`),
    schema: requireObject(schema['schema'], `${path}.schema`),
    description: optionalText(schema['description'], `${path}.description`),
    strict: optionalFlag(schema['strict'], `${path}.strict`),
  };
}
