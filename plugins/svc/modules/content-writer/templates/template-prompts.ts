import type { HostApi, McpPrompt } from '#plugin-api';
import { fillPrompt, placeholders, readSiteValues, type Placeholder } from './placeholders.ts';
import type { Template } from './template.ts';

/** Templates that write a new text, as prompts of the MCP server: their instructions, then what the text is about. */
export function templatePrompts(host: Pick<HostApi, 'site' | 'clock'>, templates: readonly Template[]): McpPrompt[] {
  return templates
    .filter(({ kind }) => kind === 'write')
    .map((template) => ({
      name: `template-${template.id}`,
      title: template.name,
      ...(template.description !== '' && { description: template.description }),
      arguments: (['topic', 'keywords', 'instructions'] as const).map((name) => ({
        name,
        description: placeholders[name],
        ...(name === 'topic' && { required: true }),
      })),
      render: async (values) => renderTemplate(template, { ...(await readSiteValues(host)), ...values }),
    }));
}

function renderTemplate({ system, parts }: Template, given: Readonly<Record<string, string>>): string {
  const values: Partial<Record<Placeholder, string>> = { title: given['topic'] ?? '', ...given };
  return [system, parts.content.prompt]
    .map((prompt) => fillPrompt(prompt, values).trim())
    .filter((prompt) => prompt !== '')
    .join('\n\n');
}
