import { withoutUndefined } from '#plugin-api';
import type { ResponseFormat, ToolCall, ToolChoice, ToolDefinition } from '../../kit/tools.ts';
import type { AiParamName } from '../../kit/ai-params.ts';
import { mapParams, type MappedParams, type ParamRules } from '../params.ts';
import { base64Of, type MessageImage, type NativeRequest, type ProviderSettings } from '../provider.ts';
import type { TextMessage, TextRequest } from '../provider.ts';

type Members = Readonly<Record<string, unknown>>;

interface ChatRequest {
  readonly model: string;
  readonly messages: readonly Members[];
  readonly [parameter: string]: unknown;
}

/** The body of `POST /chat/completions`: system text, conversation, supported parameters, tools and format. */
export function chatRequest(
  request: TextRequest,
  rules: ParamRules,
  settings: ProviderSettings,
): { body: ChatRequest; ignored: MappedParams['ignored'] } {
  if (request.native?.format === 'chat') return sentRequest({ ...request, native: request.native }, rules, settings);
  const { wire, ignored } = mapParams(rules, { params: request.params, model: request.model, settings });
  const { tools, toolChoice, parallelToolCalls, format, endUser, hints } = request;
  const system = request.system === null ? [] : [{ role: 'system', content: request.system }];
  return {
    body: {
      model: request.model,
      messages: [...system, ...request.messages.map(chatMessage)],
      ...wire,
      ...(tools !== undefined && { tools: tools.map(chatTool) }),
      ...(toolChoice !== undefined && { tool_choice: chatToolChoice(toolChoice) }),
      ...(parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
      ...(format !== undefined && { response_format: chatFormat(format) }),
      ...(endUser !== undefined && { user: endUser }),
      ...hints,
    },
    ignored,
  };
}

/** Parameters whose names or values differ between vendors: written as the vendor has them, whichever name the caller used. */
const translated: readonly AiParamName[] = ['max_completion_tokens', 'reasoning_effort'];
const translatedMembers: readonly string[] = [...translated, 'max_tokens'];

/** What the caller sent, with the site's defaults for what it left out, and without what the model refused. */
function sentRequest(
  { native, params, model }: TextRequest & { readonly native: NativeRequest },
  rules: ParamRules,
  settings: ProviderSettings,
): ReturnType<typeof chatRequest> {
  const given: readonly string[] = native.given.filter((name) => !translated.includes(name));
  const own = Object.fromEntries(Object.entries(params).filter(([name]) => !given.includes(name)));
  const { wire, ignored } = mapParams(rules, { params: own, model, settings });
  const { messages, stream: _stream, stream_options: _options, ...others } = native.body;
  const isSent = (name: string): boolean =>
    !translatedMembers.includes(name) && (!given.includes(name) || Object.hasOwn(params, name));
  const sent = Object.fromEntries(Object.entries(others).filter(([name]) => isSent(name)));
  return { body: { ...wire, ...sent, messages: messages as readonly Members[], model }, ignored };
}

/** The reasoning that the vendor returned with a message, in its members. */
function reasoningMembers({ reasoning = [] }: TextMessage): Members {
  const own = reasoning.filter(({ format }) => format === 'chat');
  const details = own.flatMap(({ item }) => (item === undefined ? [] : [item]));
  if (details.length > 0) return { reasoning_details: details };
  return own.length === 0 ? {} : { reasoning_content: own.map(({ text }) => text).join('') };
}

/** Images are parts of the content, as `data:` addresses. */
function chatMessage(message: TextMessage): Members {
  const { role, content, images = [], toolCalls = [], toolCallId, name } = message;
  if (role === 'tool') return { role, tool_call_id: toolCallId, content };
  const head = { role, ...(name !== undefined && { name }), ...reasoningMembers(message) };
  if (toolCalls.length > 0)
    return { ...head, content: content === '' ? null : content, tool_calls: toolCalls.map(chatToolCall) };
  if (images.length === 0) return { ...head, content };
  return { ...head, content: [...images.map(imagePart), ...(content === '' ? [] : [{ type: 'text', text: content }])] };
}

function imagePart(image: MessageImage): Members {
  const url = `data:${image.mimeType};base64,${base64Of(image)}`;
  return { type: 'image_url', image_url: { url, ...(image.detail !== undefined && { detail: image.detail }) } };
}

function chatToolCall({ id, name, arguments: given }: ToolCall): Members {
  return { id, type: 'function', function: { name, arguments: given } };
}

function chatTool({ name, description, parameters, strict }: ToolDefinition): Members {
  return { type: 'function', function: withoutUndefined({ name, description, parameters, strict }) };
}

function chatToolChoice(choice: ToolChoice): unknown {
  return typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } };
}

function chatFormat(format: ResponseFormat): Members {
  if (format.type === 'json_object') return { type: 'json_object' };
  const { name, schema, description, strict } = format;
  return { type: 'json_schema', json_schema: withoutUndefined({ name, schema, description, strict }) };
}
