import type { AiParams } from '../../../kit/ai-params.ts';

/** Parts of a text in the order in which they are written: a prompt may speak of those before its own. */
export const partNames = ['title', 'content', 'excerpt', 'meta_description', 'focus_keyword', 'tags', 'image'] as const;
export type PartName = (typeof partNames)[number];

export const partLabels: Readonly<Record<PartName, string>> = {
  title: 'Title',
  content: 'Text',
  excerpt: 'Excerpt',
  meta_description: 'Meta description',
  focus_keyword: 'Focus keyword',
  tags: 'Tags',
  image: 'Featured image',
};

/** How one part is written. */
export interface PartSettings {
  readonly enabled: boolean;
  /** With placeholders such as `{topic}`. */
  readonly prompt: string;
  /** Id of a provider; '': that of the template (images: the first that draws). */
  readonly provider: string;
  /** '': the template's, when the part names no provider of its own; else the one saved with the provider. */
  readonly model: string;
  /** Over those of the template (D8). Not for images. */
  readonly params: AiParams;
  /** `1024x1024`, for images alone; '': the saved default. */
  readonly size: string;
}

/** `write`: something new about a topic. `rewrite`: a post that is there. */
export type TemplateKind = 'write' | 'rewrite';

export interface TemplateSettings {
  readonly name: string;
  readonly description: string;
  readonly kind: TemplateKind;
  /** Id of a provider; '': the first that is set up. */
  readonly provider: string;
  /** '': the one saved with the provider. */
  readonly model: string;
  /** Told to the model with every part. */
  readonly system: string;
  readonly params: AiParams;
  readonly parts: Readonly<Record<PartName, PartSettings>>;
}

export interface Template extends TemplateSettings {
  /** `article` for one that comes with the service, `12` for one that somebody saved. */
  readonly id: string;
  readonly builtIn: boolean;
}

/** The template without its id. */
export function settingsOf({
  name,
  description,
  kind,
  provider,
  model,
  system,
  params,
  parts,
}: TemplateSettings): TemplateSettings {
  return { name, description, kind, provider, model, system, params, parts };
}

export function enabledParts({ parts }: Pick<TemplateSettings, 'parts'>): PartName[] {
  return partNames.filter((part) => parts[part].enabled);
}
