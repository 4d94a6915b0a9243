import { asRecord } from '#plugin-api';
import { countTokens } from '../answer.ts';
import { addressOf, recipeOf } from '../images/image-address.ts';
import type { Size } from '../images/image-size.ts';
import { drawPicture } from '../images/picture.ts';
import { jsonResponse, Refusal } from '../fake.ts';
import type { FakeResponse, FakeRequest } from '../fake.ts';
import type { ChatDialect } from './chat-dialect.ts';
import { problemReply } from './chat-problems.ts';
import { imageRules } from './openai-image-rules.ts';
import type { ImageRules, Refuse } from './openai-image-rules.ts';

type Body = Readonly<Record<string, unknown>>;
type Members = Readonly<Record<string, unknown>>;

/** What sets one speaker of OpenAI's image format apart from the others. */
export interface ImagesDialect {
  /** Checks of a model of that name; left out: OpenAI's. */
  rules?(model: string): ImageRules;
  /** Whether it edits images too. */
  readonly edits?: boolean;
  /** Members of each image beside its address or data. */
  image?(prompt: string): Members;
  /** Members of the whole answer beside created and data. */
  top?(): Members;
}

/** A dialect that may have images. */
export type DrawingDialect = ChatDialect & { readonly images?: ImagesDialect };

/** Refuses invalid parameters in a dialect. */
export function refusals(dialect: ChatDialect): Refuse {
  return (param, message) => new Refusal(problemReply(dialect, 'invalid', { param, message }));
}

/** Answers `POST .../images/generations` in OpenAI's format. @param model given by the address; else the body names it. */
export function imageGenerations(dialect: DrawingDialect, request: FakeRequest, model?: string): FakeResponse {
  const body = asRecord(request.body);
  const refuse = refusals(dialect);
  const named = model ?? body['model'] ?? 'dall-e-2';
  const name = typeof named === 'string' ? named : '';
  if (name.startsWith('missing-')) throw new Refusal(problemReply(dialect, 'unknown_model', { model: name }));
  const rules = (dialect.images?.rules ?? imageRules)(name);
  const prompt = readPrompt(body['prompt'], rules, refuse);
  const unknown = ['style', 'response_format', 'quality', 'size'].find(
    (param) => rules.unknown.includes(param) && body[param] !== undefined,
  );
  if (unknown !== undefined)
    throw new Refusal(
      problemReply(dialect, 'unsupported', { param: unknown, message: rules.unknownSentence(unknown) }),
    );
  const n = readCount(body['n'], rules, refuse);
  checkChoices(body, rules, refuse);
  const size = rules.size(body, refuse);
  const recipes = Array.from({ length: n }, (_, index) =>
    recipeOf({ prompt, ...size, index, seed: request.seed, model: name }),
  );
  const encoded = rules.alwaysBase64 || body['response_format'] === 'b64_json';
  const data = recipes.map((recipe) => ({
    ...(rules.revises && {
      revised_prompt: `${prompt.trim()} Drawn by the sandbox as bands of colour, some shapes and a caption.`,
    }),
    ...dialect.images?.image?.(prompt),
    ...(encoded ? { b64_json: drawPicture(recipe).toString('base64') } : { url: addressOf(request.origin, recipe) }),
  }));
  return jsonResponse(200, {
    created: Math.floor(request.now / 1000),
    ...(rules.alwaysBase64 && reportSettings({ body, prompt, size, n })),
    data,
    ...dialect.images?.top?.(),
  });
}

/** Tokens of an output image by its quality. */
const outputTokens: Readonly<Record<string, number>> = { low: 272, medium: 1056, high: 4160 };

/** What the GPT image models return beside the images. */
function reportSettings({ body, prompt, size, n }: { body: Body; prompt: string; size: Size; n: number }): Members {
  const asked = typeof body['quality'] === 'string' ? body['quality'] : 'auto';
  const quality = asked === 'auto' ? 'medium' : asked;
  const input = countTokens(prompt);
  const output = (outputTokens[quality] ?? 1056) * n;
  return {
    background: 'opaque',
    output_format: 'png',
    quality,
    size: `${String(size.width)}x${String(size.height)}`,
    usage: {
      input_tokens: input,
      input_tokens_details: { image_tokens: 0, text_tokens: input },
      output_tokens: output,
      total_tokens: input + output,
    },
  };
}

function readPrompt(prompt: unknown, { longestPrompt }: ImageRules, refuse: Refuse): string {
  if (prompt === undefined) throw refuse('prompt', "Missing required parameter: 'prompt'.");
  if (typeof prompt !== 'string' || prompt === '')
    throw refuse(
      'prompt',
      "Invalid 'prompt': empty string. Expected a string with minimum length 1, but got an empty string instead.",
    );
  if (prompt.length > longestPrompt) {
    throw refuse(
      'prompt',
      `Invalid 'prompt': string too long. Expected a string with maximum length ${String(longestPrompt)}, ` +
        `but got a string with length ${String(prompt.length)} instead.`,
    );
  }
  return prompt;
}

function readCount(value: unknown, { mostImages }: ImageRules, refuse: Refuse): number {
  const n = value ?? 1;
  if (typeof n !== 'number' || !Number.isInteger(n)) throw refuse('n', "Invalid type for 'n': expected an integer.");
  if (n < 1)
    throw refuse('n', `Invalid 'n': integer below minimum value. Expected a value >= 1, but got ${String(n)} instead.`);
  if (n > mostImages && mostImages === 1) throw refuse('n', 'You must provide n=1 for this model.');
  if (n > mostImages)
    throw refuse(
      'n',
      `Invalid 'n': integer above maximum value. Expected a value <= ${String(mostImages)}, but got ${String(n)} instead.`,
    );
  return n;
}

function checkChoices(body: Body, rules: ImageRules, refuse: Refuse): void {
  const choices = {
    quality: rules.qualities,
    style: ['vivid', 'natural'],
    response_format: ['url', 'b64_json'],
    output_format: ['png'],
  };
  for (const [param, allowed] of Object.entries(choices)) {
    const value = body[param];
    if (value === undefined || value === null || allowed.includes(String(value))) continue;
    throw refuse(param, invalidValue(value, allowed));
  }
  if (body['stream'] === true) throw refuse('stream', 'The sandbox does not stream images.');
}

function invalidValue(value: unknown, allowed: readonly string[]): string {
  return `Invalid value: '${String(value)}'. Supported values are: ${allowed.map((entry) => `'${entry}'`).join(', ')}.`;
}
