import { estimateTokens } from '../../../ai/estimate-tokens.ts';
import type { ServiceContext } from '../../../wiring.ts';
import { enabledParts, type PartName, type TemplateSettings } from '../templates/template.ts';
import { emptyDraft, type ContentDraft, type ContentInput } from './draft.ts';
import { promptOf } from './generate-content.ts';

/** What a text will take, about. */
export interface Estimate {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly images: number;
  /** Millionths of a US dollar; null: the price of a model is not known. */
  readonly cost: number | null;
  /** `provider model` whose price is not known. */
  readonly unpriced: readonly string[];
}

/** Tokens that parts usually have. A text is taken for some 900 words. */
const usual: Readonly<Record<Exclude<PartName, 'image'>, number>> = {
  title: 15,
  content: 1_300,
  excerpt: 60,
  meta_description: 45,
  focus_keyword: 6,
  tags: 25,
};

/** Stands for parts that are not written yet, in the length that they usually have. */
function likely(tokens: number): string {
  return 'some words '.repeat(Math.ceil(tokens / 2));
}

/**
 * Tokens and cost of one text before it is written: prompts are counted as they would be sent, what is to be written is
 * taken for as long as it usually is.
 *
 * @throws RestError when no provider is set up
 */
export async function estimateContent(
  context: ServiceContext,
  template: TemplateSettings,
  input: ContentInput,
): Promise<Estimate> {
  let draft: ContentDraft = emptyDraft;
  let total: Estimate = { inputTokens: 0, outputTokens: 0, images: 0, cost: 0, unpriced: [] };
  for (const part of enabledParts(template)) {
    const made = await promptOf(
      context,
      {
        template,
        present: undefined,
        generation: { key: '', origin: 'manual_content_writer', input, user: null, postId: null },
      },
      { part, draft },
    );
    const isImage = part === 'image';
    const inputTokens = isImage ? 0 : await estimateTokens([made.system, made.prompt]);
    const outputTokens = isImage ? 0 : Math.min(usual[part], made.params.max_completion_tokens ?? Infinity);
    const cost = await context.costOf({
      provider: made.provider,
      model: made.model,
      inputTokens,
      outputTokens,
      images: isImage ? 1 : 0,
    });
    total = {
      inputTokens: total.inputTokens + inputTokens,
      outputTokens: total.outputTokens + outputTokens,
      images: total.images + (isImage ? 1 : 0),
      cost: cost === null || total.cost === null ? null : total.cost + cost,
      unpriced: cost === null ? [...new Set([...total.unpriced, `${made.provider} ${made.model}`])] : total.unpriced,
    };
    if (!isImage) draft = { ...draft, [part]: part === 'tags' ? [likely(usual.tags)] : likely(outputTokens) };
  }
  return total;
}
