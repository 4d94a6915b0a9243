import type { AiParams } from '../../../kit/ai-params.ts';

/** The sections of a text in the order of writing. A prompt can use the sections before its own. */
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

/** The settings of one section. */
export interface PartSettings {
  readonly enabled: boolean;
  /** With placeholders such as `{topic}`. */
  readonly prompt: string;
  /** Id of a provider; empty for the template's, or for images the first connected image provider. */
  readonly provider: string;
  /** Empty for the template's model, or for the provider's default if the section has another provider. */
  readonly model: string;
  /** Override those of the template (D8). Not for images. */
  readonly params: AiParams;
  /** `1024x1024`, for images only; empty for the provider's default. */
  readonly size: string;
}

/** `write`: new texts about a topic. `rewrite`: existing posts. */
export type TemplateKind = 'write' | 'rewrite';

export interface TemplateSettings {
  readonly name: string;
  readonly description: string;
  readonly kind: TemplateKind;
  /** Id of a provider; empty for the first connected provider. */
  readonly provider: string;
  /** Empty for the provider's default model. */
  readonly model: string;
  /** Instructions for all sections. */
  readonly system: string;
  readonly params: AiParams;
  readonly parts: Readonly<Record<PartName, PartSettings>>;
}

export interface Template extends TemplateSettings {
  /** `article` for a built-in template, `12` for a saved one. */
  readonly id: string;
  readonly builtIn: boolean;
}

/** The template without its id. */
export function pickSettings({
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
