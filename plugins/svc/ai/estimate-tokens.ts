import type { TextRequest, Usage } from '../providers/provider.ts';
import type { CallUse } from './ports.ts';

type Prompt = Pick<TextRequest, 'system' | 'messages' | 'tools' | 'format'>;

// What chat formats add around each message, and before the response.
const tokensPerMessage = 4;
const tokensPerResponse = 3;
// What the largest image costs that Claude does not scale down; OpenAI and Google count fewer.
const tokensPerImage = 1_600;

function imageTokens({ messages }: Pick<TextRequest, 'messages'>): number {
  return messages.reduce((sum, { images = [] }) => sum + images.length * tokensPerImage, 0);
}

/**
 * Counts tokens locally, for a provider that reported none (D25). An estimate: with the tokens of OpenAI's newer models
 * (o200k). The first call loads the tokenizer.
 */
export async function estimateUsage(request: Prompt, content: string): Promise<Usage> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  // Text that looks like a control token counts as the text it is.
  const count = (text: string): number => countTokens(text, { disallowedSpecial: new Set() });
  const begun = tokensPerResponse + imageTokens(request);
  const input = textsOf(request).reduce((sum, text) => sum + count(text) + tokensPerMessage, begun);
  const output = count(content);
  return { input_tokens: input, output_tokens: output, total_tokens: input + output };
}

/** Tools and the schema of the format are part of the prompt, as JSON. */
function textsOf({ system, messages, tools = [], format }: Prompt): string[] {
  return [
    ...(system === null ? [] : [system]),
    ...messages.map(({ content, toolCalls = [] }) =>
      toolCalls.length === 0 ? content : content + JSON.stringify(toolCalls),
    ),
    ...tools.map((tool) => JSON.stringify(tool)),
    ...(format?.type === 'json_schema' ? [JSON.stringify(format.schema)] : []),
  ];
}

/** Characters of one text that are counted; the rest of a longer one counts alike. Counting millions would block the process. */
const countedCharacters = 20_000;

/** Tokens of texts, counted locally as above (D25). */
export async function estimateTokens(texts: readonly string[]): Promise<number> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  const count = (text: string): number =>
    countTokens(text.slice(0, countedCharacters), { disallowedSpecial: new Set() });
  return texts.reduce((sum, text) => sum + Math.ceil(count(text) * Math.max(1, text.length / countedCharacters)), 0);
}

/** Tokens of the longest response to expect if the call sets no `max_completion_tokens`. */
export const assumedResponse = 4096;
/** Tokens of an image from a model that is paid for by tokens: the largest in the best quality. */
export const assumedImage = 6240;

/** What a text may use at most: its counted prompt, and the longest response. */
export async function estimateText(request: Prompt & Pick<TextRequest, 'params'>): Promise<CallUse> {
  const texts = textsOf(request);
  return {
    inputTokens: (await estimateTokens(texts)) + (texts.length + 1) * tokensPerMessage + imageTokens(request),
    outputTokens: request.params.max_completion_tokens ?? assumedResponse,
    images: 0,
  };
}

/** What `n` images may use at most. */
export async function estimateImages(prompt: string, n: number): Promise<CallUse> {
  const outputTokens = n * assumedImage;
  const inputTokens = await estimateTokens([prompt]);
  return { inputTokens, outputTokens, tokenDetails: { image_output: outputTokens }, images: n };
}
