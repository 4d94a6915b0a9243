import type { JsonSchema } from '#plugin-api';
import type { AutomationTaskType } from '../../../kit/automation-task.ts';
import type { ServiceContext } from '../../../wiring.ts';
import type { TemplateKind } from '../templates/template.ts';

const text = (title: string, description: string, more: JsonSchema = {}): JsonSchema => ({
  type: 'string',
  title,
  description,
  maxLength: 20_000,
  ...more,
});
const choice = (description: string, names: readonly string[]): JsonSchema => ({
  type: 'string',
  title: 'Template',
  description,
  enum: names,
  default: names[0] ?? '',
});
const shared = {
  keywords: text('Keywords', 'Words to use; a row with a column of its own for them wins.', { default: '' }),
  instructions: text('Wishes', 'Length, tone, what must be in it.', { default: '', format: 'textarea-field' }),
} as const;

/** What content does in automations. Only declares: the work is loaded by the first item. */
export async function contentTaskTypes(context: ServiceContext): Promise<readonly AutomationTaskType[]> {
  const templates = await (await import('../content.ts')).contentOf(context).templates.list();
  const names = (kind: TemplateKind): string[] => templates.filter((one) => one.kind === kind).map(({ name }) => name);
  return [
    {
      id: 'content_writing',
      label: 'Write content',
      description: 'Writes a post about each topic, row or feed entry, with a template of the content writer.',
      sources: ['list', 'csv', 'rss'],
      settings: {
        type: 'object',
        properties: {
          template: choice('Template of the content writer', names('write')),
          ...shared,
          read_page: {
            type: 'boolean',
            title: 'Read the page of each feed entry',
            description: 'Off: only what the feed says of it is told to the model.',
            default: false,
          },
          save: {
            type: 'string',
            title: 'Save as',
            enum: ['draft', 'pending', 'publish'],
            default: 'draft',
            description: 'Posts are made with the rights of whoever saved the task.',
          },
          post_type: text('Kind of post', 'Name of a post type.', { default: 'post', maxLength: 20 }),
          category: text('Category', 'Kept with the post.', { default: '', maxLength: 100 }),
          tags: text('Tags', 'Separated by commas; those that are written come on top.', {
            default: '',
            maxLength: 2_000,
          }),
        },
        additionalProperties: false,
      },
      check: async (settings) => (await import('./content-writing.ts')).contentWritingErrors(context, settings),
      run: async (item) => (await import('./content-writing.ts')).runContentWriting(context, item),
    },
    {
      id: 'post_rewriting',
      label: 'Rewrite posts',
      description: 'Rewrites posts, or their texts for search results. What was there before is kept as a revision.',
      sources: ['posts', 'list', 'csv'],
      settings: {
        type: 'object',
        properties: { template: choice('Template of the content writer that rewrites', names('rewrite')), ...shared },
        additionalProperties: false,
      },
      check: async (settings) =>
        (await import('./content-writing.ts')).templateErrors(context, settings['template'], 'rewrite'),
      run: async (item) => (await import('./post-rewriting.ts')).runPostRewriting(context, item),
    },
  ];
}
