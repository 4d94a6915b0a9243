import { enabledParts, partNames, type PartName, type TemplateSettings } from './template.ts';

/** What a prompt may speak of, and what it stands for. */
export const placeholders = {
  topic: 'what to write about',
  keywords: 'words to use',
  instructions: 'wishes for this one text',
  source: 'text of the page or feed entry',
  source_url: 'address of the page or feed entry',
  title: 'the title',
  content: 'the text, in Markdown',
  excerpt: 'the excerpt',
  meta_description: 'the meta description',
  focus_keyword: 'the focus keyword',
  tags: 'the tags',
  site: 'name of the site',
  date: 'today',
} as const;
export type Placeholder = keyof typeof placeholders;

const pattern = /\{([a-z_]+)\}/g;

/** Fills the placeholders in; what they bring is not looked at again, and other text in braces stays as it is. */
export function fillPrompt(prompt: string, values: Readonly<Partial<Record<Placeholder, string>>>): string {
  return prompt.replace(pattern, (whole, name: string) =>
    Object.hasOwn(placeholders, name) ? (values[name as Placeholder] ?? '') : whole,
  );
}

/** What is wrong with the prompts of a template, by path of the member. */
export function promptErrors(template: TemplateSettings): Record<string, string> {
  const errors: Record<string, string> = {};
  const enabled = enabledParts(template);
  if (enabled.length === 0) errors['parts'] = 'Switch on at least one part.';
  for (const part of partNames) {
    const path = `parts.${part}.prompt`;
    const { prompt } = template.parts[part];
    if (template.parts[part].enabled && prompt.trim() === '')
      errors[path] = `${path} must not be empty while the part is on.`;
    const error = placeholderError(prompt, { part, template, enabled });
    if (error !== null) errors[path] = `${path} ${error}`;
  }
  const error = placeholderError(template.system, { part: null, template, enabled });
  if (error !== null) errors['system'] = `system ${error}`;
  return errors;
}

interface Place {
  /** Null: the instructions, which every part is told. */
  readonly part: PartName | null;
  readonly template: TemplateSettings;
  readonly enabled: readonly PartName[];
}

function placeholderError(prompt: string, { part, template: { kind }, enabled }: Place): string | null {
  for (const [whole, name = ''] of prompt.matchAll(pattern)) {
    if (!Object.hasOwn(placeholders, name))
      return `speaks of ${whole}, which nothing stands for. There are ${Object.keys(placeholders)
        .map((one) => `{${one}}`)
        .join(' ')}.`;
    const written = partNames.indexOf(name as PartName);
    // A post that is rewritten has all of them from the beginning; without a title of its own a text is called by its topic.
    if (kind === 'rewrite' || written === -1 || (name === 'title' && part !== 'title')) continue;
    if (part === null) return `speaks of ${whole}, which is not written yet when the first part is.`;
    if (written >= partNames.indexOf(part))
      return `speaks of ${whole}, which is not written yet. A part may speak of those before it.`;
    // A part that is off is kept for later: what it needs may be switched on with it.
    if (enabled.includes(part) && !enabled.includes(name as PartName))
      return `speaks of ${whole}, a part that is switched off.`;
  }
  return null;
}
