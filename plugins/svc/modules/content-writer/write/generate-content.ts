import type { User, HostApi } from '#plugin-api';
import type { UsageOrigin } from '../../../kit/usage-origin.ts';
import type { ContentPorts } from '../content-writer.ts';
import type { GeneratedText } from '../../../ai/generate-text.ts';
import { requireComplete } from '../../../ai/require-complete.ts';
import { errors } from '../../../kit/errors.ts';
import type { ContentGeneration, ContentPrompt } from '../hooks.ts';
import { fillPrompt, readSiteValues, type Placeholder } from '../templates/placeholders.ts';
import { enabledParts, partLabels, type PartName, type TemplateSettings, partNames } from '../templates/template.ts';
import { cleanContent, cleanLine, cleanTags } from './clean-part.ts';
import { outputOfPart } from './part-outputs.ts';
import { emptyDraft, hasPart, type ContentDraft, type ContentInput } from './draft.ts';
import { missingSettings } from '../../../settings/configured.ts';
import { findReadyModel } from '../../../settings/example-model.ts';

/** The current content of a rewritten post. */
export type Present = Readonly<Partial<Record<Exclude<PartName, 'image' | 'tags'>, string>>> & {
  readonly tags?: readonly string[];
};

/** Characters of the text in prompts of later sections: enough for a summary, at a limited cost. */
const longestForSmall = 12_000;
/** Characters of a source in prompts. */
const longestSource = 40_000;

/** The values of the placeholders. Sections of the draft take precedence over those of a rewritten post. */
async function promptValues(
  host: Pick<HostApi, 'site' | 'clock'>,
  {
    input,
    draft,
    present,
    part,
  }: {
    readonly input: ContentInput;
    readonly draft: ContentDraft;
    readonly present: Present | undefined;
    readonly part: PartName;
  },
): Promise<Record<Placeholder, string>> {
  const content = draft.content ?? present?.content ?? '';
  const valueOf = (name: Exclude<PartName, 'image' | 'tags' | 'content'>): string =>
    draft[name] ?? present?.[name] ?? '';
  return {
    topic: input.topic,
    keywords: input.keywords,
    instructions: input.instructions,
    source: input.source.slice(0, longestSource),
    source_url: input.source_url,
    title: valueOf('title') || input.topic,
    content: partNames.indexOf(part) > partNames.indexOf('content') ? content.slice(0, longestForSmall) : content,
    excerpt: valueOf('excerpt'),
    meta_description: valueOf('meta_description'),
    focus_keyword: valueOf('focus_keyword'),
    tags: (draft.tags ?? present?.tags ?? []).join(', '),
    ...(await readSiteValues(host)),
  };
}

export interface GenerateContentInit {
  readonly template: TemplateSettings;
  readonly generation: ContentGeneration;
  /** For `[username]` and for the media library. */
  readonly user: User | null;
  /** For the usage ledger. Default: this module, for the owner of the text. */
  readonly usage?: UsageOrigin | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The sections of an earlier attempt, which are kept. */
  readonly done?: ContentDraft;
  /** The current content of a rewritten post. */
  readonly present?: Present | undefined;
  /** `media`: images are stored in the media library at once. `b64_json`: they are returned as data. */
  readonly imageForm: 'media' | 'b64_json';
  readonly onPart?: (part: PartName) => void;
  readonly onText?: (part: PartName, piece: string) => void;
  /** Called and awaited after each section, with the draft so far. */
  readonly onDraft?: (draft: ContentDraft, part: PartName) => Promise<void> | void;
}

export type GenerateContent = (init: GenerateContentInit) => Promise<ContentDraft>;

/**
 * Writes the enabled sections of a template, one after the other. Stateless.
 *
 * @throws RestError of the provider (D5), or 502 `rest_svc_content_empty` if a model returns nothing
 */
export function createGenerateContent(ports: ContentPorts): GenerateContent {
  return async (init) => {
    let draft = init.done ?? emptyDraft;
    for (const part of enabledParts(init.template)) {
      if (hasPart(draft, part)) continue;
      init.signal?.throwIfAborted();
      init.onPart?.(part);
      draft = await (part === 'image' ? drawImage(ports, init, draft) : writePart(ports, { ...init, part }, draft));
      await init.onDraft?.(draft, part);
    }
    return ports.host.hooks.applyFiltersAsync('svc_content_result', draft, init.generation);
  };
}

/** The prompt with its placeholders filled in, before filters. */
export async function buildPrompt(
  ports: ContentPorts,
  { template, generation, present }: Pick<GenerateContentInit, 'template' | 'generation' | 'present'>,
  { part, draft }: { readonly part: PartName; readonly draft: ContentDraft },
): Promise<ContentPrompt> {
  const values = await promptValues(ports.host, { input: generation.input, draft, present, part });
  const { provider, model } = await chooseModel(ports, template, part);
  return {
    provider,
    model,
    system: fillPrompt(template.system, values),
    prompt: fillPrompt(template.parts[part].prompt, values),
    params: { ...template.params, ...template.parts[part].params },
  };
}

function originOf({ usage, generation: { key, user } }: GenerateContentInit): UsageOrigin {
  return usage ?? { module: 'content-writer', route: null, botId: null, reference: `content:${key}`, userId: user?.id };
}

type TextPart = Exclude<PartName, 'image'>;

async function writePart(
  ports: ContentPorts,
  init: GenerateContentInit & { readonly part: TextPart },
  draft: ContentDraft,
): Promise<ContentDraft> {
  const { part, generation } = init;
  const made = await buildPrompt(ports, init, { part, draft });
  const { provider, model, system, prompt, params } = await ports.host.hooks.applyFiltersAsync(
    'svc_content_prompt',
    made,
    part,
    generation,
  );
  const reply = await ports.generateText({
    provider,
    model,
    params,
    messages: [{ role: 'user', content: prompt }],
    ...(system.trim() !== '' && { systemInstruction: system }),
    // Pages and feeds may contain placeholders, which must not be filled in.
    placeholders: false,
    user: init.user ?? undefined,
    signal: init.signal,
    origin: originOf(init),
    output: outputOfPart(part),
    onText: init.onText && ((piece) => init.onText?.(part, piece)),
  });
  // Half a post is not published as a whole one.
  requireComplete(reply);
  const value = cleanPart(part, reply, draft.title);
  if (value.length === 0) throw errors.content_empty({ values: { part: partLabels[part] } });
  const { input_tokens: input, output_tokens: output } = reply.usage;
  const spent = addSpend(draft, { input, output, cost: reply.cost });
  const ai = { provider: reply.provider, model: reply.model };
  return { ...spent, [part]: value, ai: part === 'content' || draft.ai === null ? ai : draft.ai };
}

function cleanPart(
  part: TextPart,
  { content, data }: Pick<GeneratedText, 'content' | 'data'>,
  title: string | undefined,
): string | string[] {
  if (part === 'content') return cleanContent(content, title);
  // It matches the schema of the section.
  const value = (data as Readonly<Record<string, string | readonly string[]>>)[part];
  return part === 'tags' ? cleanTags(value as readonly string[]) : cleanLine(part, value as string);
}

async function drawImage(ports: ContentPorts, init: GenerateContentInit, draft: ContentDraft): Promise<ContentDraft> {
  const made = await buildPrompt(ports, init, { part: 'image', draft });
  const { provider, model, prompt } = await ports.host.hooks.applyFiltersAsync(
    'svc_content_prompt',
    made,
    'image',
    init.generation,
  );
  const { size } = init.template.parts.image;
  const result = await ports.generateImages({
    provider,
    model,
    prompt,
    form: init.imageForm,
    signal: init.signal,
    origin: originOf(init),
    ...(size !== '' && { size: size as `${number}x${number}` }),
    ...(init.user !== null && { userId: init.user.id }),
  });
  const [image] = result.images;
  const tokens = (name: string): number => (typeof result.usage?.[name] === 'number' ? result.usage[name] : 0);
  const spent = addSpend(draft, { input: tokens('input_tokens'), output: tokens('output_tokens'), cost: result.cost });
  return {
    ...spent,
    image: {
      media_id: image?.media?.id ?? null,
      url: image?.media?.url ?? null,
      b64_json: image?.b64_json ?? null,
      alt: draft.title ?? init.generation.input.topic,
      generated: {
        prompt,
        provider: result.provider,
        model: result.model,
        revised_prompt: image?.revised_prompt ?? null,
        usage: result.usage,
      },
    },
  };
}

function addSpend(
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

/** The provider and model of a section. */
interface ChosenModel {
  /** Id of the provider. */
  readonly provider: string;
  /** Empty only if the provider has no default model. */
  readonly model: string;
}

type Models = Pick<ContentPorts, 'settings' | 'providers' | 'tester' | 'host'>;

/**
 * The provider and model of the section, else of the template, else the first connected provider.
 *
 * @throws RestError `rest_svc_provider_not_configured` if no provider is connected
 */
async function chooseModel(
  ports: Models,
  template: Pick<TemplateSettings, 'provider' | 'model' | 'parts'>,
  part: PartName,
): Promise<ChosenModel> {
  const own = template.parts[part];
  if (part === 'image') return imageModel(ports, own);
  const provider = own.provider || template.provider;
  const model = own.model || (own.provider === '' || own.provider === template.provider ? template.model : '');
  if (provider !== '') return { provider, model: model || (await savedModel(ports, provider, 'model')) };
  const first = await findReadyModel(ports);
  if (first === null) throw notConfigured('text');
  return { provider: first.provider, model: model || first.model };
}

async function imageModel(
  ports: Models,
  { provider, model }: { readonly provider: string; readonly model: string },
): Promise<ChosenModel> {
  if (provider !== '') return { provider, model: model || (await savedModel(ports, provider, 'image_model')) };
  for (const candidate of ports.providers.all()) {
    if (!candidate.images) continue;
    const saved = await ports.settings.provider(candidate.id);
    const named = model || (typeof saved['image_model'] === 'string' ? saved['image_model'] : '');
    if (named !== '' && missingSettings(candidate, saved).length === 0) return { provider: candidate.id, model: named };
  }
  throw notConfigured('images');
}

async function savedModel({ settings }: Models, provider: string, name: 'model' | 'image_model'): Promise<string> {
  const saved = (await settings.provider(provider))[name];
  return typeof saved === 'string' ? saved : '';
}

function notConfigured(what: 'text' | 'images'): Error {
  return errors.provider_not_configured({
    values: { provider: `No provider for ${what}`, missing: what === 'text' ? 'key and model' : 'key and image model' },
    data: { provider: '', provider_status: null },
  });
}
