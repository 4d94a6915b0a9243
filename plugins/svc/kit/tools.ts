import { withoutUndefined } from '#plugin-api';
import { textHints, type TextHint } from './text-hints.ts';

/** A JSON object with unknown members. */
type JsonObject = Readonly<Record<string, unknown>>;

/** A function that a model may call. */
export interface ToolDefinition {
  /** Letters, digits, underscores and hyphens; at most 64. */
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema of the arguments. Omitted: the function has none. */
  readonly parameters?: JsonObject | undefined;
  /** Whether the upstream must enforce the schema. */
  readonly strict?: boolean | undefined;
}

/** A call of a function, as the model wrote it. */
export interface ToolCall {
  /** Unique in the conversation. */
  readonly id: string;
  readonly name: string;
  /** JSON text; a model may write invalid JSON. */
  readonly arguments: string;
  /** Google's `thoughtSignature`, which the next request must repeat. */
  readonly signature?: string | undefined;
}

/** Whether the model calls functions: as it likes, never, at least one, or this one. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/** The format of a text. Default: plain text. */
export type ResponseFormat =
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema';
      readonly name: string;
      readonly schema: JsonObject;
      readonly description?: string | undefined;
      readonly strict?: boolean | undefined;
    };

/** Parts of a text request that not every model supports, besides `params`. */
export interface TextExtras {
  readonly tools?: readonly ToolDefinition[] | undefined;
  readonly toolChoice?: ToolChoice | undefined;
  /** False: one call of a function at most. */
  readonly parallelToolCalls?: boolean | undefined;
  readonly format?: ResponseFormat | undefined;
  /** End-user identifier, for monitoring upstream. */
  readonly endUser?: string | undefined;
  /** Members of OpenAI's format that do not change the answer, by their names there (`textHints`). */
  readonly hints?: Readonly<Partial<Record<TextHint, unknown>>> | undefined;
}

/** What a model may or may not support, by the names that OpenAI gives them. */
export const textFeatures = [
  'tools',
  'tools.strict',
  'tool_choice',
  'parallel_tool_calls',
  'response_format.json_object',
  'response_format.json_schema',
  'image_url.detail',
  'messages.reasoning',
  ...textHints,
] as const;

export type TextFeature = (typeof textFeatures)[number];

/** The extras that were given, without undefined members. */
export function pickExtras({ tools, toolChoice, parallelToolCalls, format, endUser, hints }: TextExtras): TextExtras {
  const given = tools?.length === 0 ? undefined : tools;
  return withoutUndefined({ tools: given, toolChoice, parallelToolCalls, format, endUser, hints });
}

/** The features that a request cannot do without. */
export function neededFeatures(
  { tools = [], toolChoice, parallelToolCalls, format }: TextExtras,
  messages: readonly { readonly images?: readonly { readonly detail?: unknown }[] | undefined }[],
): TextFeature[] {
  const needed: Readonly<Partial<Record<TextFeature, boolean>>> = {
    tools: tools.length > 0,
    'tools.strict': tools.some(({ strict }) => strict === true),
    tool_choice: toolChoice !== undefined,
    parallel_tool_calls: parallelToolCalls !== undefined,
    'response_format.json_object': format?.type === 'json_object',
    'response_format.json_schema': format?.type === 'json_schema',
    'image_url.detail': messages.some(({ images = [] }) => images.some(({ detail }) => detail !== undefined)),
  };
  return textFeatures.filter((feature) => needed[feature] === true);
}

/** Features that a request can do without: the text stays what was asked for, if less surely so. */
export const spareFeatures = ['tools.strict', 'parallel_tool_calls', 'image_url.detail'] as const;

/** The request without these features. */
export function withoutFeatures<Request extends TextExtras & { readonly messages: readonly TextLike[] }>(
  request: Request,
  features: readonly string[],
): Request {
  const { tools, messages } = request;
  const isLeft = (feature: (typeof spareFeatures)[number]): boolean => features.includes(feature);
  return {
    ...request,
    ...(isLeft('tools.strict') && { tools: tools?.map(({ strict: _strict, ...tool }) => tool) }),
    ...(isLeft('parallel_tool_calls') && { parallelToolCalls: undefined }),
    ...(isLeft('image_url.detail') && {
      messages: messages.map(({ images, ...message }) => ({
        ...message,
        ...(images && { images: images.map((image) => ({ ...image, detail: undefined })) }),
      })),
    }),
  };
}

interface TextLike {
  readonly images?: readonly { readonly detail?: unknown }[] | undefined;
}
