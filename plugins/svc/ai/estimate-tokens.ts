import type { HostApi } from '#plugin-api';
import type { ReportedUsage, TextRequest, Usage } from '../providers/provider.ts';
import { loadTokenCounter } from '../kit/count-tokens.ts';
import type { countTexts } from './count-texts.reader.ts';
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
 * (o200k).
 */
export async function estimateUsage(request: Prompt, content: string, host: Counting): Promise<Usage> {
  const [input, output] = [await estimatePrompt(request, host), await estimateTokens([content], host)];
  return { input_tokens: input, output_tokens: output, total_tokens: input + output };
}

/**
 * Reported usage, with an estimate of what is missing in it (D25, D51): all of it; a side that was reported as 0 and has text, as
 * streams that end early and many servers do; what was written beyond a partial report.
 *
 * @param call `written`: all that the model wrote
 */
export async function completeUsage(
  { usage, isPartial = false, tokenDetails, reportedCost }: ReportedUsage,
  { request, written }: { readonly request: Prompt; readonly written: string },
  host: Counting,
): Promise<ReportedUsage & { readonly usage: Usage; readonly isEstimated: boolean }> {
  const [reportedInput, reportedOutput] = [usage?.input_tokens ?? 0, usage?.output_tokens ?? 0];
  const input = reportedInput > 0 ? reportedInput : await estimatePrompt(request, host);
  const beyond = reportedInput > 0 ? 0 : (usage?.total_tokens ?? 0) - input;
  const output =
    written === '' || (reportedOutput > 0 && !isPartial)
      ? reportedOutput
      : Math.max(reportedOutput, beyond, (tokenDetails?.reasoning ?? 0) + (await estimateTokens([written], host)));
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

async function estimatePrompt(request: Prompt, host: Counting): Promise<number> {
  const texts = textsOf(request);
  return (
    (await estimateTokens(texts, host)) + tokensPerResponse + texts.length * tokensPerMessage + imageTokens(request)
  );
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

/** Where long texts are counted. */
type Counting = Pick<HostApi, 'documents'>;

/** Characters that are counted at once: at most a tenth of a second. */
const countedAtOnce = 20_000;
/** Milliseconds that counting longer texts may take. */
const countingTime = 5_000;

/**
 * Tokens of texts, counted locally as above (D25). Longer texts are counted in a thread, so that none blocks the process (D51).
 * If the thread is busy or too slow, an even sample of the texts is counted, and the rest counts alike.
 */
export async function estimateTokens(texts: readonly string[], { documents }: Counting): Promise<number> {
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  if (characters <= countedAtOnce) {
    const count = await loadTokenCounter();
    return texts.reduce((sum, text) => sum + count(text), 0);
  }
  const reading = documents.read<typeof countTexts>({
    module: new URL('./count-texts.reader.ts', import.meta.url),
    reader: 'countTexts',
    input: { texts },
    queue: 'estimates',
    deadline: countingTime,
  });
  return reading.catch(async () => {
    const sample = sampleOf(texts.join('\n'));
    return Math.ceil(((await loadTokenCounter())(sample) * characters) / sample.length);
  });
}

/** Slices from all over a long text. */
function sampleOf(text: string): string {
  const length = 200;
  const slices = countedAtOnce / length;
  const step = (text.length - length) / (slices - 1);
  return Array.from({ length: slices }, (_, index) => {
    const start = Math.floor(index * step);
    return text.slice(start, start + length);
  }).join('');
}

/** Tokens of the longest response to expect if the call sets no `max_completion_tokens`. */
export const assumedResponse = 4096;
/** Tokens of an image from a model that is paid for by tokens: the largest in the best quality. */
export const assumedImage = 6240;

/** What a text may use at most: its counted prompt, and the longest response. */
export async function estimateText(request: Prompt & Pick<TextRequest, 'params'>, host: Counting): Promise<CallUse> {
  return {
    inputTokens: await estimatePrompt(request, host),
    outputTokens: request.params.max_completion_tokens ?? assumedResponse,
    images: 0,
  };
}

/** What `n` images may use at most. */
export async function estimateImages(prompt: string, n: number, host: Counting): Promise<CallUse> {
  const outputTokens = n * assumedImage;
  const inputTokens = await estimateTokens([prompt], host);
  return { inputTokens, outputTokens, tokenDetails: { image_output: outputTokens }, images: n };
}
