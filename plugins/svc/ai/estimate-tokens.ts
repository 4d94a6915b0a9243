import type { HostApi } from '#plugin-api';
import type { ReportedUsage, TextMessage, TextRequest, Usage } from '../providers/provider.ts';
import { loadTokenCounter } from '../kit/count-tokens.ts';
import type { countTexts } from './count-texts.reader.ts';
import type { CallUse } from './ports.ts';
import { sampleLength, sampleOf } from './sample-texts.ts';
import { readSent } from './sent-content.ts';

type Prompt = Pick<TextRequest, 'system' | 'messages' | 'tools' | 'format' | 'endUser' | 'hints' | 'native'> &
  Partial<Pick<TextRequest, 'params' | 'model'>>;

// What chat formats add around each message, and before the response.
const tokensPerMessage = 4;
const tokensPerResponse = 3;
/** Tokens of the largest image by what a name contains, as OpenAI and Google document them: tiles, or patches with a factor. */
const imageTokens: readonly (readonly [name: RegExp, tokens: number])[] = [
  [/gpt-4o-mini/i, 48_169],
  [/-nano/i, 3_779],
  [/-mini|o4/i, 2_642],
  [/gemini/i, 4_128],
];
/** What the largest image costs that Claude does not scale down; OpenAI's other models count fewer. */
const tokensPerImage = 1_600;

/** Tokens of one image at most. */
function imageCost(model = ''): number {
  return imageTokens.find(([name]) => name.test(model))?.[1] ?? tokensPerImage;
}
// What JSON has between two values.
const tokensPerValue = 1;
// A file has texts and pages that only its vendor reads.
const charactersPerDataToken = 4;

/** Counts the tokens of one prompt when it is first called, and returns the same number from then on. */
export type CountPrompt = () => Promise<number>;

/**
 * @param request before anything of it is set apart to be sent, since all of it counts
 */
export function createPromptCount(request: Prompt, host: Counting): CountPrompt {
  let count: Promise<number> | undefined;
  return () => (count ??= estimatePrompt(request, host));
}

/**
 * Counts tokens locally, for a provider that reported none (D25). An estimate: with the tokens of OpenAI's newer models
 * (o200k).
 */
export async function estimateUsage(request: Prompt, content: string, host: Counting): Promise<Usage> {
  const [input, output] = [await estimatePrompt(request, host), await estimateTokens([content], host)];
  return { input_tokens: input, output_tokens: output, total_tokens: input + output };
}

interface WrittenText {
  readonly countPrompt: CountPrompt;
  readonly written: string;
  readonly unread?: number;
}

/**
 * Reported usage, with an estimate of what is missing in it (D25, D51): all of it; a side that was reported as 0 and has text, as
 * streams that end early and many servers do; what was written beyond a partial report; the longest response where none of it was
 * read, since the vendor may have finished it.
 *
 * @param call `written`: all that the model wrote. `unread`: tokens of a response that ended before it was read; default 0
 */
export async function completeUsage(
  { usage, isPartial = false, tokenDetails, reportedCost }: ReportedUsage,
  { countPrompt, written, unread = 0 }: WrittenText,
  host: Counting,
): Promise<ReportedUsage & { readonly usage: Usage; readonly isEstimated: boolean }> {
  const [reportedInput, reportedOutput] = [usage?.input_tokens ?? 0, usage?.output_tokens ?? 0];
  const input = reportedInput > 0 ? reportedInput : await countPrompt();
  const beyond = reportedInput > 0 ? 0 : (usage?.total_tokens ?? 0) - input;
  const estimateOutput = async (): Promise<number> =>
    written === '' ? unread : (tokenDetails?.reasoning ?? 0) + (await estimateTokens([written], host));
  const isMissing = (reportedOutput === 0 || isPartial) && (written !== '' || unread > 0);
  const output = isMissing ? Math.max(reportedOutput, beyond, await estimateOutput()) : reportedOutput;
  if (usage !== null && input === reportedInput && output === reportedOutput)
    return { usage, tokenDetails, reportedCost, isEstimated: false };
  return {
    usage: { input_tokens: input, output_tokens: output, total_tokens: input + output },
    tokenDetails,
    // Of a report that leaves tokens out, a price of 0 is left out too.
    reportedCost: reportedCost === 0 ? undefined : reportedCost,
    isEstimated: true,
  };
}

/** All that the vendor gets (D51): of a request in its own format the whole body, whatever was read of it. */
async function estimatePrompt(request: Prompt, host: Counting): Promise<number> {
  if (request.native === undefined) {
    const texts = textsOf(request);
    const images = request.messages.reduce((sum, message) => sum + (message.images?.length ?? 0), 0);
    const tokens = await estimateTokens(texts, host);
    return tokens + tokensPerResponse + texts.length * tokensPerMessage + images * imageCost(request.model);
  }
  const { texts, dataLength, images } = readSent(request.native.body);
  const around = tokensPerResponse + texts.length * tokensPerValue;
  const data = Math.ceil(dataLength / charactersPerDataToken);
  return (await estimateTokens(texts, host)) + around + data + images * imageCost(request.model);
}

/** Tools and the schema of the format are part of the prompt, as JSON. */
function textsOf({ system, messages, tools = [], format, endUser, hints, params = {} }: Prompt): string[] {
  const { stop = [] } = params;
  return [
    ...(system === null ? [] : [system]),
    ...messages.map(messageText),
    ...tools.map((tool) => JSON.stringify(tool)),
    ...(format?.type === 'json_schema' ? [JSON.stringify(format.schema) + (format.description ?? '')] : []),
    // Few requests have these, and few vendors count them.
    ...(endUser === undefined ? [] : [endUser]),
    ...(hints === undefined ? [] : [JSON.stringify(hints)]),
    ...[stop].flat(),
  ];
}

/** A vendor gets back its own item of a reasoning, or else the text. */
function messageText({ content, name = '', toolCalls = [], toolCallId = '', reasoning = [] }: TextMessage): string {
  const thoughts = reasoning.map(({ text, item }) => (item === undefined ? text : JSON.stringify(item)));
  return [content, name, toolCallId, ...thoughts, ...(toolCalls.length === 0 ? [] : [JSON.stringify(toolCalls)])].join(
    '',
  );
}

/** Where long texts are counted. */
type Counting = Pick<HostApi, 'documents'>;

/** Characters that are counted at once: at most a tenth of a second. */
const countedAtOnce = sampleLength;
/** Characters that are all counted: copying more to a thread takes longer than a sample. */
const countedAtMost = 1_000_000;
/** Milliseconds that counting longer texts may take. */
const countingTime = 5_000;

/**
 * Tokens of texts, counted locally as above (D25). Longer texts are counted in a thread, so that none blocks the process (D51).
 * If they are too long for that, or the thread is busy or too slow, a sample of the texts is counted, and the rest counts alike.
 */
export async function estimateTokens(texts: readonly string[], { documents }: Counting): Promise<number> {
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  if (characters <= countedAtOnce) {
    const count = await loadTokenCounter();
    return texts.reduce((sum, text) => sum + count(text), 0);
  }
  const countSample = async (): Promise<number> => {
    const sample = sampleOf(texts);
    return Math.ceil(((await loadTokenCounter())(sample) * characters) / sample.length);
  };
  if (characters > countedAtMost) return countSample();
  const reading = documents.read<typeof countTexts>({
    module: new URL('./count-texts.reader.ts', import.meta.url),
    reader: 'countTexts',
    input: { texts },
    queue: 'estimates',
    deadline: countingTime,
  });
  return reading.catch(countSample);
}

/** Tokens of the longest response to expect if the call sets no `max_completion_tokens`. */
export const assumedResponse = 4096;
/** Tokens of an image from a model that is paid for by tokens: the largest in the best quality. */
export const assumedImage = 6240;

/** What vendors call the limit of a response. Of several, each vendor reads its own. */
const limitNames = ['max_completion_tokens', 'max_tokens', 'max_output_tokens'] as const;

/** Tokens that are reserved for the response of a text, and that it costs if it ended before it was read (D51). */
export function longestResponse({ params, native }: Pick<TextRequest, 'params' | 'native'>): number {
  const { body = {} } = native ?? {};
  const sent = [params.max_completion_tokens, ...limitNames.map((name) => body[name])];
  const limits = sent.filter((limit) => typeof limit === 'number');
  return limits.length === 0 ? assumedResponse : Math.max(...limits);
}

/** What a text may use at most: its counted prompt, and the longest response. */
export async function estimateText(
  request: Pick<TextRequest, 'params' | 'native'>,
  countPrompt: CountPrompt,
): Promise<CallUse> {
  return {
    inputTokens: await countPrompt(),
    outputTokens: longestResponse(request),
    images: 0,
  };
}

/** What `n` images may use at most. */
export async function estimateImages(prompt: string, n: number, host: Counting): Promise<CallUse> {
  const outputTokens = n * assumedImage;
  const inputTokens = await estimateTokens([prompt], host);
  return { inputTokens, outputTokens, tokenDetails: { image_output: outputTokens }, images: n };
}
