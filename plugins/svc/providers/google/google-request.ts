import { isRecord } from '#plugin-api';
import type { GenerateContentParameters } from '@google/genai';
import type { ToolCall } from '../../kit/tools.ts';
import type { JsonObject } from '../json.ts';
import { requireArguments } from '../provider-errors.ts';
import { mapParams, type MappedParams } from '../params.ts';
import { base64Of, type ProviderSettings, type TextMessage, type TextRequest } from '../provider.ts';
import { googleRules } from './google-models.ts';

interface Content {
  readonly role: 'user' | 'model';
  readonly parts: readonly JsonObject[];
}

/** The parameters of the SDK's `models.generateContent`. */
export function googleRequest(
  request: TextRequest,
  settings: ProviderSettings,
): { parameters: Pick<GenerateContentParameters, 'model' | 'contents' | 'config'>; ignored: MappedParams['ignored'] } {
  const { wire, ignored } = mapParams(googleRules, { params: request.params, model: request.model, settings });
  const contents = googleContents(request.messages) as GenerateContentParameters['contents'];
  const config = {
    ...wire,
    ...(request.system !== null && { systemInstruction: request.system }),
    ...googleFormat(request.format),
    ...googleTools(request),
  };
  return { parameters: { model: request.model, contents, config }, ignored };
}

function googleFormat(format: TextRequest['format']): JsonObject {
  if (format === undefined) return {};
  return {
    responseMimeType: 'application/json',
    ...(format.type === 'json_schema' && { responseJsonSchema: format.schema }),
  };
}

const callingModes = { auto: 'AUTO', none: 'NONE', required: 'ANY' } as const;

function googleTools({ tools, toolChoice }: TextRequest): JsonObject {
  if (tools === undefined) return {};
  const functionDeclarations = tools.map(({ name, description, parameters }) => ({
    name,
    // Google requires one.
    description: description ?? name,
    ...(parameters !== undefined && { parametersJsonSchema: parameters }),
  }));
  const calling =
    typeof toolChoice === 'object'
      ? { mode: 'ANY', allowedFunctionNames: [toolChoice.name] }
      : { mode: callingModes[toolChoice ?? 'auto'] };
  return {
    tools: [{ functionDeclarations }],
    ...(toolChoice !== undefined && { toolConfig: { functionCallingConfig: calling } }),
  };
}

/** Gemini requires alternating roles, so adjacent messages of one role become parts of one content. */
function googleContents(messages: readonly TextMessage[]): Content[] {
  const contents: Content[] = [];
  const names = new Map(messages.flatMap(({ toolCalls = [] }) => toolCalls).map(({ id, name }) => [id, name]));
  for (const message of messages) {
    const parts = message.role === 'tool' ? [resultPart(message, names)] : partsOf(message);
    const theirs = message.role === 'assistant' ? 'model' : 'user';
    const last = contents.at(-1);
    if (last?.role === theirs) contents[contents.length - 1] = { role: theirs, parts: [...last.parts, ...parts] };
    else contents.push({ role: theirs, parts });
  }
  return contents;
}

/** Images come before the text, tool calls after it. */
function partsOf({ content, images = [], toolCalls = [] }: TextMessage): JsonObject[] {
  const seen = images.map((image) => ({ inlineData: { mimeType: image.mimeType, data: base64Of(image) } }));
  const calls = toolCalls.map(callPart);
  const others = [...seen, ...calls];
  return content === '' && others.length > 0 ? others : [...seen, { text: content }, ...calls];
}

/** Gemini 3 refuses calls without the signature of its thoughts, unless this text replaces it, as Google documents. */
const unsigned = 'skip_thought_signature_validator';

function callPart(call: ToolCall): JsonObject {
  const { name, signature = unsigned } = call;
  return { functionCall: { name, args: requireArguments(call) }, thoughtSignature: signature };
}

/** Google identifies a result by the name of the function. */
function resultPart({ content, toolCallId = '' }: TextMessage, names: ReadonlyMap<string, string>): JsonObject {
  return { functionResponse: { name: names.get(toolCallId) ?? toolCallId, response: resultOf(content) } };
}

function resultOf(content: string): JsonObject {
  try {
    const value: unknown = JSON.parse(content);
    return isRecord(value) ? value : { output: value };
  } catch {
    return { output: content };
  }
}
