import { asRecord, isRecord, withoutUndefined, type Params } from '#plugin-api';
import { invalid, optionalFlag, optionalText, requireObject } from '../../../kit/read-members.ts';
import type { ResponseFormat, TextExtras, ToolChoice, ToolDefinition } from '../../../kit/tools.ts';
import { noteMembers, sparedMembers, type Reading } from './reading.ts';

/** Tools, format and user of a request in the words of this service. @throws RestError 400 that names the parameter */
export function readExtras(params: Params, reading: Reading): TextExtras {
  const tools = readTools(params['tools'], reading);
  const choice = asRecord(params['tool_choice']);
  const known = { read: ['type', 'name', 'disable_parallel_tool_use'] };
  noteMembers(choice, 'tool_choice.', { ...known, reading });
  const metadata = asRecord(params['metadata']);
  if (Object.keys(metadata).some((name) => name !== 'user_id')) reading.spared.push('metadata');
  return withoutUndefined({
    tools,
    // Without tools there is nothing to choose.
    toolChoice: tools && readToolChoice(choice, tools, reading),
    parallelToolCalls: tools && choice['disable_parallel_tool_use'] === true ? false : undefined,
    format: readFormat(params, reading),
    endUser: optionalText(metadata['user_id'], 'metadata.user_id'),
  });
}

function readTools(given: unknown, reading: Reading): ToolDefinition[] | undefined {
  if (!Array.isArray(given)) return undefined;
  const tools = given.flatMap((tool: unknown, index) => readTool(tool, `tools[${String(index)}]`, reading));
  return tools.length === 0 ? undefined : tools;
}

/** How the vendor loads and streams a tool, which does not change what it is. */
const sparedOfTools = [
  ...sparedMembers,
  'defer_loading',
  'eager_input_streaming',
  'input_examples',
  'allowed_callers',
] as const;

/** @returns none for a tool that the vendor runs, which is noted */
function readTool(given: unknown, path: string, reading: Reading): ToolDefinition[] {
  const tool = requireObject(given, path);
  const type = tool['type'] ?? 'custom';
  if (type !== 'custom') {
    reading.needed.push(`${path}.type`);
    return [];
  }
  const read = ['type', 'name', 'description', 'input_schema', 'strict'];
  noteMembers(tool, `${path}.`, { read, spared: sparedOfTools, reading });
  const { name, input_schema: parameters } = tool;
  if (typeof name !== 'string' || !/^[\w-]{1,128}$/.test(name))
    throw invalid(`${path}.name`, 'must have 1 to 128 letters, digits, underscores and hyphens.');
  return [
    {
      name,
      description: optionalText(tool['description'], `${path}.description`),
      parameters: requireObject(parameters, `${path}.input_schema`),
      strict: optionalFlag(tool['strict'], `${path}.strict`) === true ? true : undefined,
    },
  ];
}

/** The model chooses by default, so that `auto` needs nothing that a model may lack. */
function readToolChoice(
  { type, name }: Params,
  tools: readonly ToolDefinition[],
  { isNative }: Reading,
): ToolChoice | undefined {
  if (type === undefined || type === 'auto') return undefined;
  if (type === 'none') return type;
  if (type === 'any') return 'required';
  if (typeof name === 'string' && (isNative || tools.some((tool) => tool.name === name))) return { name };
  if (isNative) return undefined;
  throw invalid('tool_choice', 'must have the type auto, any or none, or tool with the name of one of the tools.');
}

/** `output_format` is the name it had before. */
function readFormat(params: Params, reading: Reading): ResponseFormat | undefined {
  const config = asRecord(params['output_config']);
  noteMembers(config, 'output_config.', { read: ['effort', 'format'], reading });
  const given = config['format'] ?? params['output_format'];
  if (given === undefined || given === null) return undefined;
  const { type, schema } = requireObject(given, 'output_config.format');
  if (type === 'json_schema' && isRecord(schema)) return { type, name: 'output', schema };
  if (reading.isNative) return undefined;
  throw invalid('output_config.format', 'must have the type json_schema, and a schema.');
}
