import { isRecord, type Ability, type JsonSchema } from '#plugin-api';
import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import type { McpDependencies } from './mcp-route.ts';

type Translate = McpDependencies['translateSchema'];

/** Names of tools have no slashes. Names of abilities have no `_`, so both stay unique. */
const toolName = ({ name }: Ability): string => name.replace('/', '_');

const isObject = (schema: JsonSchema | null): boolean => schema?.type === 'object';

/** An ability as a tool. What is no object is the member `input`, and `result` of what it returns. */
export function toTool(ability: Ability, translate: Translate): Tool {
  const { label, description, inputSchema, outputSchema, meta } = ability;
  const { readonly, destructive, idempotent } = meta.annotations;
  return {
    name: toolName(ability),
    title: label,
    description,
    inputSchema: toInputSchema(inputSchema, translate),
    ...(outputSchema !== null && { outputSchema: toOutputSchema(outputSchema, translate) }),
    annotations: {
      title: label,
      ...(typeof readonly === 'boolean' && { readOnlyHint: readonly }),
      ...(typeof destructive === 'boolean' && { destructiveHint: destructive }),
      ...(typeof idempotent === 'boolean' && { idempotentHint: idempotent }),
    },
  };
}

function toInputSchema(schema: JsonSchema | null, translate: Translate): Tool['inputSchema'] {
  if (schema === null) return { type: 'object', additionalProperties: false };
  if (isObject(schema)) return { ...translate(schema), type: 'object' };
  return {
    type: 'object',
    properties: { input: translate(schema) },
    ...(schema.default === undefined && { required: ['input'] }),
  } as Tool['inputSchema'];
}

function toOutputSchema(schema: JsonSchema, translate: Translate): NonNullable<Tool['outputSchema']> {
  if (isObject(schema)) return { ...translate(schema), type: 'object' };
  return { type: 'object', properties: { result: translate(schema) }, required: ['result'] };
}

/** The input that the arguments of a tool are. */
export function toInput({ inputSchema }: Ability, values: Readonly<Record<string, unknown>> | undefined): unknown {
  if (inputSchema === null) return undefined;
  return isObject(inputSchema) ? (values ?? {}) : values?.['input'];
}

export function toResult({ outputSchema }: Ability, output: unknown): CallToolResult {
  const text = typeof output === 'string' ? output : JSON.stringify(output);
  const isOwn = isRecord(output) && (outputSchema === null || isObject(outputSchema));
  return { content: [{ type: 'text', text }], structuredContent: isOwn ? output : { result: output } };
}

/** An error as a result, so that the model reads the reason and can correct its call. */
export function toErrorResult(error: unknown): CallToolResult {
  if (!(error instanceof Error) || !('code' in error) || !('status' in error)) throw error;
  return { isError: true, content: [{ type: 'text', text: `${error.message} (${String(error.code)})` }] };
}

export function findTool(abilities: readonly Ability[], name: string): Ability | undefined {
  return abilities.find((ability) => toolName(ability) === name);
}
