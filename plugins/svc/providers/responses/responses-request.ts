import { withoutUndefined } from '#plugin-api';
import type { Reasoning } from '../../kit/reasoning.ts';
import type { ResponseFormat, ToolCall, ToolChoice, ToolDefinition } from '../../kit/tools.ts';
import { mapParams, type MappedParams, type ParamNames, type ParamRules } from '../params.ts';
import { base64Of, type MessageImage, type ProviderSettings, type TextMessage, type TextRequest } from '../provider.ts';

type Members = Readonly<Record<string, unknown>>;

/** What the API calls the parameters that it has. */
export const responsesNames = {
  temperature: 'temperature',
  max_completion_tokens: 'max_output_tokens',
  top_p: 'top_p',
  reasoning_effort: 'reasoning.effort',
} as const satisfies ParamNames;

/** How a vendor with this API differs from OpenAI. */
export interface ResponsesTraits {
  /** Whether a model returns its reasoning encrypted, for the next request. Default: it does not. */
  readonly encryptsReasoning?: ((model: string, settings: ProviderSettings) => boolean) | undefined;
  /** Whether `instructions` are refused: the system text is a message then. Default: false. */
  readonly lacksInstructions?: boolean | undefined;
}

interface ResponsesRequestInit {
  readonly rules: ParamRules;
  readonly traits: ResponsesTraits;
  readonly settings: ProviderSettings;
}

/**
 * The body of `POST /responses`. What its caller sent in this format goes on unchanged (D55). Else nothing is stored, and
 * reasoning comes encrypted, so that it can be sent back.
 */
export function responsesRequest(
  request: TextRequest,
  { rules, traits, settings }: ResponsesRequestInit,
): { body: Members; ignored: MappedParams['ignored'] } {
  if (request.native !== undefined) return { body: nativeBody(request, request.native), ignored: [] };
  const { wire, ignored } = mapParams(rules, { params: request.params, model: request.model, settings });
  const { tools, toolChoice, parallelToolCalls, format, endUser, hints, system, messages } = request;
  const { verbosity, ...others } = (hints ?? {}) as Members;
  const text = withoutUndefined({ format: format && responsesFormat(format), verbosity });
  // OpenAI looks for the word JSON, which this format requires, in messages alone.
  const isMessage = traits.lacksInstructions === true || format?.type === 'json_object';
  const encrypts = traits.encryptsReasoning?.(request.model, settings) === true;
  return {
    body: {
      model: request.model,
      ...(system !== null && !isMessage && { instructions: system }),
      input: [
        ...(system !== null && isMessage ? [{ role: 'system', content: system }] : []),
        ...messages.flatMap(inputItems),
      ],
      store: false,
      ...(encrypts && { include: ['reasoning.encrypted_content'] }),
      ...wire,
      ...(tools !== undefined && { tools: tools.map(responsesTool) }),
      ...(toolChoice !== undefined && { tool_choice: responsesToolChoice(toolChoice) }),
      ...(parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
      ...(Object.keys(text).length > 0 && { text }),
      ...(endUser !== undefined && { user: endUser }),
      ...others,
    },
    ignored,
  };
}

/** The caller's body for this model, without the parameters that the model refused. */
function nativeBody({ model, params }: TextRequest, { body, given }: NonNullable<TextRequest['native']>): Members {
  const { stream: _stream, ...rest } = body;
  const refused = given.filter((name) => params[name] === undefined);
  return refused.reduce<Members>(
    (left, name) => (Object.hasOwn(responsesNames, name) ? without(left, responsesNames[name as 'top_p']) : left),
    { ...rest, model },
  );
}

/** @param path `temperature` or `reasoning.effort` */
function without(body: Members, path: string): Members {
  const [name = '', inner] = path.split('.');
  const { [name]: member, ...rest } = body;
  if (inner === undefined || typeof member !== 'object' || member === null) return rest;
  const { [inner]: _inner, ...others } = member as Members;
  return { ...rest, [name]: others };
}

/** Of an assistant's message in the order in which the model wrote them: reasoning, text, calls of functions. */
function inputItems({
  role,
  content,
  images = [],
  toolCalls = [],
  toolCallId,
  reasoning = [],
}: TextMessage): Members[] {
  if (role === 'tool') return [{ type: 'function_call_output', call_id: toolCallId, output: content }];
  const parts = [...images.map(imagePart), ...(content === '' ? [] : [{ type: 'input_text', text: content }])];
  const message = { role, content: images.length === 0 ? content : parts };
  return [
    ...reasoning.flatMap(reasoningItem),
    ...(content === '' && images.length === 0 && toolCalls.length > 0 ? [] : [message]),
    ...toolCalls.map(functionCall),
  ];
}

/** An item without its content is only known to a vendor that has stored it. */
function reasoningItem({ item, format }: Reasoning): Members[] {
  const isWhole = typeof item?.['encrypted_content'] === 'string' || Array.isArray(item?.['content']);
  return item !== undefined && format === 'responses' && isWhole ? [item] : [];
}

function imagePart(image: MessageImage): Members {
  const url = `data:${image.mimeType};base64,${base64Of(image)}`;
  return { type: 'input_image', image_url: url, detail: image.detail ?? 'auto' };
}

function functionCall({ id, name, arguments: given }: ToolCall): Members {
  return { type: 'function_call', call_id: id, name, arguments: given };
}

/** Without `strict` the API would enforce the schema, and change it to do so. */
function responsesTool({ name, description, parameters, strict = false }: ToolDefinition): Members {
  return { type: 'function', ...withoutUndefined({ name, description }), parameters: parameters ?? null, strict };
}

function responsesToolChoice(choice: ToolChoice): unknown {
  return typeof choice === 'string' ? choice : { type: 'function', name: choice.name };
}

function responsesFormat(format: ResponseFormat): Members {
  if (format.type === 'json_object') return { type: 'json_object' };
  const { name, schema, description, strict } = format;
  return { type: 'json_schema', ...withoutUndefined({ name, schema, description, strict }) };
}
