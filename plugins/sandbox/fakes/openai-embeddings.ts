import { asRecord } from '#plugin-api';
import { countTokens } from '../answer.ts';
import { canShorten, modelDimension } from '../embeddings/model-dimension.ts';
import { textVector } from '../embeddings/text-vector.ts';
import { jsonResponse, Refusal } from '../fake.ts';
import type { FakeResponse, FakeRequest } from '../fake.ts';
import type { ChatDialect } from './chat-dialect.ts';
import { problemReply } from './chat-problems.ts';

const mostInputs = 2048;
const mostTokensOfOne = 8192;
const mostTokensOfAll = 300_000;

/** What sets one speaker of OpenAI's embeddings format apart from the others. */
export interface EmbeddingsDialect {
  /** Members of the answer beside object, data and model. */
  usage(tokens: number): Readonly<Record<string, unknown>>;
  /** Members of the whole answer, beside usage. */
  top?(): Readonly<Record<string, unknown>>;
}

export const openAiEmbeddings: EmbeddingsDialect = {
  usage: (tokens) => ({ prompt_tokens: tokens, total_tokens: tokens }),
};

/**
 * Answers `POST .../embeddings` in OpenAI's format: floats, or base64 of 32-bit floats.
 *
 * @param model given by the address; else the body names it.
 */
export function embeddings(
  dialect: ChatDialect & { readonly embeddings?: EmbeddingsDialect },
  request: FakeRequest,
  model?: string,
): FakeResponse {
  const { embeddings: own = openAiEmbeddings } = dialect;
  const body = asRecord(request.body);
  const refuse = (param: string, message: string): Refusal =>
    new Refusal(problemReply(dialect, 'invalid', { param, message }));
  const name = model ?? body['model'];
  if (typeof name !== 'string' || name === '') throw new Refusal(problemReply(dialect, 'no_model'));
  if (name.startsWith('missing-')) throw new Refusal(problemReply(dialect, 'unknown_model', { model: name }));
  const texts = readInput(body['input'], refuse);
  const tokens = countAll(texts, refuse);
  const dimension = readDimensions(body['dimensions'], name, refuse);
  const format = body['encoding_format'] ?? 'float';
  if (format !== 'float' && format !== 'base64')
    throw refuse(
      'encoding_format',
      `Invalid value: '${JSON.stringify(format)}'. Supported values are: 'float' and 'base64'.`,
    );
  const data = texts.map((text, index) => {
    const vector = textVector(text, { dimension, model: name });
    return {
      object: 'embedding',
      index,
      embedding: format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : Array.from(vector),
    };
  });
  return jsonResponse(200, { object: 'list', data, model: name, usage: own.usage(tokens), ...own.top?.() });
}

type Refuse = (param: string, message: string) => Refusal;

/** A text, several, or tokens as numbers, which stand for themselves. */
function readInput(input: unknown, refuse: Refuse): string[] {
  if (input === undefined || input === null) throw refuse('input', "Missing required parameter: 'input'.");
  const list: readonly unknown[] =
    Array.isArray(input) && !input.every((entry) => typeof entry === 'number') ? input : [input];
  if (list.length > mostInputs) {
    throw refuse(
      'input',
      `Invalid 'input': array too long. Expected an array with maximum length ${String(mostInputs)}, but ` +
        `got an array with length ${String(list.length)} instead.`,
    );
  }
  return list.map((entry) => {
    const text = Array.isArray(entry) ? entry.join(' ') : entry;
    if (typeof text !== 'string' || text === '')
      throw refuse(
        'input',
        "'$.input' is invalid. Please check the API reference: https://platform.openai.com/docs/api-reference.",
      );
    return text;
  });
}

function countAll(texts: readonly string[], refuse: Refuse): number {
  const counts = texts.map(countTokens);
  const longest = Math.max(...counts);
  if (longest > mostTokensOfOne) {
    throw refuse(
      'input',
      `This model's maximum context length is ${String(mostTokensOfOne)} tokens, however you requested ` +
        `${String(longest)} tokens (${String(longest)} in your prompt; 0 for the completion). Please reduce ` +
        `your prompt; or completion length.`,
    );
  }
  const sum = counts.reduce((total, count) => total + count, 0);
  if (sum > mostTokensOfAll)
    throw refuse('input', `Requested ${String(sum)} tokens, max ${String(mostTokensOfAll)} tokens per request`);
  return sum;
}

function readDimensions(value: unknown, model: string, refuse: Refuse): number {
  const most = modelDimension(model);
  if (value === undefined || value === null) return most;
  if (!canShorten(model)) throw refuse('dimensions', 'This model does not support specifying dimensions.');
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1)
    throw refuse(
      'dimensions',
      `Invalid 'dimensions': integer below minimum value. Expected a value >= 1, but got ${JSON.stringify(value)} instead.`,
    );
  if (value > most)
    throw refuse(
      'dimensions',
      `Invalid value for 'dimensions' = ${String(value)}. Must be less than or equal to ${String(most)}.`,
    );
  return value;
}
