import type { HostApi, McpCompletion, McpPrompt } from '#plugin-api';
import { fillPrompt, placeholders, readSiteValues, type Placeholder } from './placeholders.ts';
import type { Template } from './template.ts';

/** Templates that write a new text, as prompts of the MCP server: their instructions, then what the text is about. */
export function templatePrompts(
  host: Pick<HostApi, 'site' | 'clock' | 'content'>,
  templates: readonly Template[],
): McpPrompt[] {
  return templates
    .filter(({ kind }) => kind === 'write')
    .map((template) => ({
      name: `template-${template.id}`,
      title: template.name,
      ...(template.description !== '' && { description: template.description }),
      arguments: (['topic', 'keywords', 'instructions'] as const).map((name) => ({
        name,
        description: placeholders[name],
        ...(name === 'topic' && { required: true, complete: (typed: McpCompletion) => suggestTopics(host, typed) }),
      })),
      render: async (values) => renderTemplate(template, { ...(await readSiteValues(host)), ...values }),
    }));
}

/** The titles of drafts, which are often texts that are still to be written. Prompts are for those who may edit all of them. */
async function suggestTopics(
  { content }: Pick<HostApi, 'content'>,
  { value, user, limit }: McpCompletion,
): Promise<string[]> {
  const drafts = await content.posts.find({
    status: 'draft',
    ...(value.trim() !== '' && { search: value }),
    visibleTo: user,
    orderBy: 'modified',
    limit,
  });
  return [...new Set(drafts.map(({ title }) => title.trim()).filter((title) => title !== ''))];
}

function renderTemplate({ system, parts }: Template, given: Readonly<Record<string, string>>): string {
  const values: Partial<Record<Placeholder, string>> = { title: given['topic'] ?? '', ...given };
  return [system, parts.content.prompt]
    .map((prompt) => fillPrompt(prompt, values).trim())
    .filter((prompt) => prompt !== '')
    .join('\n\n');
}
