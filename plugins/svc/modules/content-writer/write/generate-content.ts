import type { User } from '#plugin-api';
import type { UsageOrigin } from '../../../kit/usage-origin.ts';
import type { ServiceContext } from '../../../wiring.ts';
import { errors } from '../../../kit/errors.ts';
import type { ContentGeneration, ContentPrompt } from '../hooks.ts';
import { fillPrompt } from '../templates/placeholders.ts';
import { enabledParts, partLabels, type PartName, type TemplateSettings } from '../templates/template.ts';
import { chooseModel } from './choose-model.ts';
import { cleanContent, cleanExcerpt, cleanKeyword, cleanMetaDescription, cleanTags, cleanTitle } from './clean-part.ts';
import { emptyDraft, isWritten, type ContentDraft } from './draft.ts';
import { promptValues, type Present } from './prompt-values.ts';

export interface GenerateContentInit {
  readonly template: TemplateSettings;
  readonly generation: ContentGeneration;
  /** For `[username]` and for the media library. */
  readonly user: User | null;
  readonly usage: UsageOrigin;
  readonly signal?: AbortSignal | undefined;
  /** Parts of an earlier attempt: they are not paid for again. */
  readonly done?: ContentDraft;
  /** What a post that is rewritten says. */
  readonly present?: Present | undefined;
  /** `media`: images are kept at once. `b64_json`: they come as data. */
  readonly imageForm: 'media' | 'b64_json';
  readonly onPart?: (part: PartName) => void;
  readonly onText?: (part: PartName, piece: string) => void;
  /** After each part, with all so far. Waited for. */
  readonly onDraft?: (draft: ContentDraft, part: PartName) => Promise<void> | void;
}

export type GenerateContent = (init: GenerateContentInit) => Promise<ContentDraft>;

/**
 * Writes the parts of a text that its template switches on, one after the other. Keeps no state.
 *
 * @throws RestError of the provider (D5), or 502 `rest_svc_content_empty` when a model answers nothing
 */
export function createGenerateContent(context: ServiceContext): GenerateContent {
  return async (init) => {
    let draft = init.done ?? emptyDraft;
    for (const part of enabledParts(init.template)) {
      if (isWritten(draft, part)) continue;
      init.signal?.throwIfAborted();
      init.onPart?.(part);
      draft = await (part === 'image' ? drawImage(context, init, draft) : writePart(context, { ...init, part }, draft));
      await init.onDraft?.(draft, part);
    }
    return context.host.hooks.applyFiltersAsync('svc_content_result', draft, init.generation);
  };
}

/** The prompt with everything filled in, before filters. */
export async function promptOf(
  context: ServiceContext,
  { template, generation, present }: Pick<GenerateContentInit, 'template' | 'generation' | 'present'>,
  { part, draft }: { readonly part: PartName; readonly draft: ContentDraft },
): Promise<ContentPrompt> {
  const values = await promptValues(context.host, { input: generation.input, draft, present, part });
  const { provider, model } = await chooseModel(context, template, part);
  return {
    provider,
    model,
    system: fillPrompt(template.system, values),
    prompt: fillPrompt(template.parts[part].prompt, values),
    params: { ...template.params, ...template.parts[part].params },
  };
}

type TextPart = Exclude<PartName, 'image'>;

async function writePart(
  context: ServiceContext,
  init: GenerateContentInit & { readonly part: TextPart },
  draft: ContentDraft,
): Promise<ContentDraft> {
  const { part, generation } = init;
  const made = await promptOf(context, init, { part, draft });
  const { provider, model, system, prompt, params } = await context.host.hooks.applyFiltersAsync(
    'svc_content_prompt',
    made,
    part,
    generation,
  );
  const answer = await context.generateText({
    provider,
    model,
    params,
    messages: [{ role: 'user', content: prompt }],
    ...(system.trim() !== '' && { systemInstruction: system }),
    // What a page or a feed says must not be filled in.
    placeholders: false,
    user: init.user ?? undefined,
    signal: init.signal,
    origin: init.usage,
    onText: init.onText && ((piece) => init.onText?.(part, piece)),
  });
  const value = cleanPart(part, answer.content, draft.title);
  if (value.length === 0) throw errors.content_empty({ values: { part: partLabels[part] } });
  const { input_tokens: input, output_tokens: output } = answer.usage;
  const spent = withSpent(draft, { input, output, cost: answer.cost });
  const ai = { provider: answer.provider, model: answer.model };
  return { ...spent, [part]: value, ai: part === 'content' || draft.ai === null ? ai : draft.ai };
}

function cleanPart(part: TextPart, text: string, title: string | undefined): string | string[] {
  switch (part) {
    case 'title':
      return cleanTitle(text);
    case 'content':
      return cleanContent(text, title);
    case 'excerpt':
      return cleanExcerpt(text);
    case 'meta_description':
      return cleanMetaDescription(text);
    case 'focus_keyword':
      return cleanKeyword(text);
    case 'tags':
      return cleanTags(text);
  }
}

async function drawImage(
  context: ServiceContext,
  init: GenerateContentInit,
  draft: ContentDraft,
): Promise<ContentDraft> {
  const made = await promptOf(context, init, { part: 'image', draft });
  const { provider, model, prompt } = await context.host.hooks.applyFiltersAsync(
    'svc_content_prompt',
    made,
    'image',
    init.generation,
  );
  const { size } = init.template.parts.image;
  const answer = await context.generateImages({
    provider,
    model,
    prompt,
    form: init.imageForm,
    signal: init.signal,
    origin: init.usage,
    ...(size !== '' && { size: size as `${number}x${number}` }),
    ...(init.user !== null && { userId: init.user.id }),
  });
  const [image] = answer.images;
  const tokens = (name: string): number => (typeof answer.usage?.[name] === 'number' ? answer.usage[name] : 0);
  const spent = withSpent(draft, { input: tokens('input_tokens'), output: tokens('output_tokens'), cost: answer.cost });
  return {
    ...spent,
    image: {
      media_id: image?.media?.id ?? null,
      url: image?.media?.url ?? null,
      b64_json: image?.b64_json ?? null,
      alt: draft.title ?? init.generation.input.topic,
    },
  };
}

function withSpent(
  draft: ContentDraft,
  { input, output, cost }: { readonly input: number; readonly output: number; readonly cost: number | null },
): ContentDraft {
  return {
    ...draft,
    input_tokens: draft.input_tokens + input,
    output_tokens: draft.output_tokens + output,
    cost: draft.cost + (cost ?? 0),
    unpriced: draft.unpriced + (cost === null ? 1 : 0),
  };
}
