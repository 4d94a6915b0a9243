import { supportedImageFields, type ImageParams } from '../../../kit/image-params.ts';
import { estimateTokens } from '../../../ai/estimate-tokens.ts';
import type { ContentPorts } from '../content-writer.ts';
import { enabledParts, type PartName, type TemplateSettings } from '../templates/template.ts';
import { emptyDraft, type ContentDraft, type ContentInput } from './draft.ts';
import { buildPrompt } from './generate-content.ts';
import { formatCount, formatMoney } from '#plugin-api';

/** The estimated usage of a text. */
export interface Estimate {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly images: number;
  /** Millionths of a US dollar; null if the price of a model is unknown. */
  readonly cost: number | null;
  /** `provider model` of the models with an unknown price. */
  readonly unpriced: readonly string[];
}

/** Typical tokens of each section. The text has about 900 words. */
const typicalTokens: Readonly<Record<Exclude<PartName, 'image'>, number>> = {
  title: 15,
  content: 1_300,
  excerpt: 60,
  meta_description: 45,
  focus_keyword: 6,
  tags: 25,
};

/** A placeholder of typical length for sections that are not written yet. */
function sampleText(tokens: number): string {
  return 'some words '.repeat(Math.ceil(tokens / 2));
}

/**
 * Estimates tokens and cost of one text: counts the prompts as sent, and assumes typical lengths for the sections.
 *
 * @throws RestError if no provider is connected
 */
export async function estimateContent(
  ports: ContentPorts,
  template: TemplateSettings,
  input: ContentInput,
): Promise<Estimate> {
  let draft: ContentDraft = emptyDraft;
  let total: Estimate = { inputTokens: 0, outputTokens: 0, images: 0, cost: 0, unpriced: [] };
  for (const part of enabledParts(template)) {
    const prompt = await buildPrompt(
      ports,
      {
        template,
        present: undefined,
        generation: { key: '', origin: 'manual_content_writer', input, user: null, postId: null },
      },
      { part, draft },
    );
    const isImage = part === 'image';
    const inputTokens = isImage ? 0 : await estimateTokens([prompt.system, prompt.prompt], ports.host);
    const outputTokens = isImage ? 0 : Math.min(typicalTokens[part], prompt.params.max_completion_tokens ?? Infinity);
    const cost = await ports.costOf({
      provider: prompt.provider,
      model: prompt.model,
      inputTokens,
      outputTokens,
      images: isImage ? 1 : 0,
      ...(isImage && (await imageFields(ports, template, prompt))),
    });
    total = {
      inputTokens: total.inputTokens + inputTokens,
      outputTokens: total.outputTokens + outputTokens,
      images: total.images + (isImage ? 1 : 0),
      cost: cost === null || total.cost === null ? null : total.cost + cost,
      unpriced:
        cost === null ? [...new Set([...total.unpriced, `${prompt.provider} ${prompt.model}`])] : total.unpriced,
    };
    if (!isImage)
      draft = { ...draft, [part]: part === 'tags' ? [sampleText(typicalTokens.tags)] : sampleText(outputTokens) };
  }
  return total;
}

/** The size and quality of the featured image, for its price. */
async function imageFields(
  { settings, providers }: ContentPorts,
  template: TemplateSettings,
  { provider: id, model }: { readonly provider: string; readonly model: string },
): Promise<Pick<ImageParams, 'size' | 'quality'>> {
  const defaults = await settings.imageDefaults();
  const provider = providers.all().find((one) => one.id === id);
  const size = template.parts.image.size || defaults.size;
  return supportedImageFields(
    { ...defaults, ...(size !== undefined && { size: size as NonNullable<ImageParams['size']> }) },
    provider?.images?.takes?.(model, await settings.provider(id)),
  );
}

/** `About 9,300 tokens, $0.012.` @param times number of texts */
export function formatEstimate({ inputTokens, outputTokens, images, cost, unpriced }: Estimate, times = 1): string {
  const tokens = (inputTokens + outputTokens) * times;
  const drawn = images * times;
  const what = [formatCount(rounded(tokens), 'token'), ...(drawn > 0 ? [formatCount(drawn, 'image')] : [])].join(
    ' and ',
  );
  return cost === null
    ? `About ${what}. The price of ${unpriced.join(', ')} is unknown.`
    : `About ${what}, ${formatMoney(cost * times)}.`;
}

/** `1,980 tokens, $0.0042` */
export function formatSpend({
  tokens,
  cost,
  unpriced,
}: {
  readonly tokens: number;
  readonly cost: number;
  readonly unpriced: number;
}): string {
  return `${formatCount(tokens, 'token')}, ${formatMoney(cost)}${unpriced > 0 ? ', plus calls with an unknown price' : ''}`;
}

/** Two significant digits: an estimate is not more exact. */
function rounded(value: number): number {
  if (value < 100) return value;
  const step = 10 ** (Math.floor(Math.log10(value)) - 1);
  return Math.round(value / step) * step;
}
