import type { TextRequest, Usage } from '../providers/provider.ts';

// What chat formats add around each message, and before the answer.
const perMessage = 4;
const perAnswer = 3;

/**
 * Counts tokens here, for a provider that reported none (D25). An estimate: with the tokens of OpenAI's newer models
 * (o200k). The tokenizer is loaded by the first call.
 */
export async function estimateUsage(
  request: Pick<TextRequest, 'system' | 'messages'>,
  content: string,
): Promise<Usage> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  // Text that looks like a control token counts as the text it is.
  const count = (text: string): number => countTokens(text, { disallowedSpecial: new Set() });
  const said = [
    ...(request.system === null ? [] : [request.system]),
    ...request.messages.map((message) => message.content),
  ];
  const input = said.reduce((sum, text) => sum + count(text) + perMessage, perAnswer);
  const output = count(content);
  return { input_tokens: input, output_tokens: output, total_tokens: input + output };
}

/** Characters of one text that are counted; of a longer one the rest counts alike. Counting millions would hold up the process. */
const countedCharacters = 20_000;

/** Tokens of texts that are embedded, counted here as above (D25). */
export async function estimateTokens(texts: readonly string[]): Promise<number> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  const count = (text: string): number =>
    countTokens(text.slice(0, countedCharacters), { disallowedSpecial: new Set() });
  return texts.reduce((sum, text) => sum + Math.ceil(count(text) * Math.max(1, text.length / countedCharacters)), 0);
}
