import { withoutUndefined } from '#plugin-api';
import type { ResponseFormat, ToolCall, ToolChoice, ToolDefinition } from '../../kit/tools.ts';
import { mapParams, type MappedParams, type ParamRules } from '../params.ts';
import { base64Of, type MessageImage, type ProviderSettings, type TextMessage, type TextRequest } from '../provider.ts';

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

/** Images are parts of the content, as `data:` addresses. */
function chatMessage({ role, content, images = [], toolCalls = [], toolCallId, name }: TextMessage): Members {
  if (role === 'tool') return { role, tool_call_id: toolCallId, content };
  const head = { role, ...(name !== undefined && { name }) };
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
