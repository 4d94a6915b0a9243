import { localDay } from '#plugin-api';
import type { HostApi } from '#plugin-api';
import { enabledParts, partNames, type PartName, type TemplateSettings } from './template.ts';

/** The placeholders of prompts and their descriptions. */
export const placeholders = {
  topic: 'Topic',
  keywords: 'Keywords',
  instructions: 'Instructions for this text',
  source: 'Text of the page or feed entry',
  source_url: 'URL of the page or feed entry',
  title: 'Title',
  content: 'Text in Markdown',
  excerpt: 'Excerpt',
  meta_description: 'Meta description',
  focus_keyword: 'Focus keyword',
  tags: 'Tags',
  site: 'Name of the site',
  date: "Today's date",
} as const;
export type Placeholder = keyof typeof placeholders;

const pattern = /\{([a-z_]+)\}/g;

/** Fills in the placeholders. Their values are not searched for placeholders; other text in braces stays. */
export function fillPrompt(prompt: string, values: Readonly<Partial<Record<Placeholder, string>>>): string {
  return prompt.replace(pattern, (whole, name: string) =>
    Object.hasOwn(placeholders, name) ? (values[name as Placeholder] ?? '') : whole,
  );
}

/** The values that do not depend on the text. */
export async function readSiteValues({
  site,
  clock,
}: Pick<HostApi, 'site' | 'clock'>): Promise<Record<'site' | 'date', string>> {
  const [name, timeZone] = await Promise.all([site.name(), site.timezone()]);
  return { site: name, date: localDay(clock.now(), timeZone) };
}

/** The errors in the prompts of a template, by path. */
export function promptErrors(template: TemplateSettings): Record<string, string> {
  const errors: Record<string, string> = {};
  const enabled = enabledParts(template);
  if (enabled.length === 0) errors['parts'] = 'Enable at least one section.';
  for (const part of partNames) {
    const path = `parts.${part}.prompt`;
    const { prompt } = template.parts[part];
    if (template.parts[part].enabled && prompt.trim() === '')
      errors[path] = `${path} must not be empty while the section is enabled.`;
    const error = placeholderError(prompt, { part, template, enabled });
    if (error !== null) errors[path] = `${path} ${error}`;
  }
  const error = placeholderError(template.system, { part: null, template, enabled });
  if (error !== null) errors['system'] = `system ${error}`;
  return errors;
}

interface PromptContext {
  /** Null for the instructions for all sections. */
  readonly part: PartName | null;
  readonly template: TemplateSettings;
  readonly enabled: readonly PartName[];
}

function placeholderError(prompt: string, { part, template: { kind }, enabled }: PromptContext): string | null {
  for (const [whole, name = ''] of prompt.matchAll(pattern)) {
    if (!Object.hasOwn(placeholders, name))
      return `uses ${whole}, which does not exist. Use ${Object.keys(placeholders)
        .map((one) => `{${one}}`)
        .join(' ')}.`;
    const written = partNames.indexOf(name as PartName);
    // A rewritten post has all sections already. Without a title, the topic is used.
    if (kind === 'rewrite' || written === -1 || (name === 'title' && part !== 'title')) continue;
    if (part === null) return `uses ${whole}, which is not written before the first section.`;
    if (written >= partNames.indexOf(part))
      return `uses ${whole}, which is written later. A section can use the ones above it.`;
    // A disabled section may use others that are enabled together with it.
    if (enabled.includes(part) && !enabled.includes(name as PartName))
      return `uses ${whole}, a section that is disabled.`;
  }
  return null;
}
