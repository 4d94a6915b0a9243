import type { JsonSchema } from '#plugin-api';
import type { AutomationTaskType } from '../../../kit/automation-task.ts';
import type { ContentWriter } from '../content-writer.ts';
import type { Template, TemplateKind } from '../templates/template.ts';

const text = (title: string, description: string, more: JsonSchema = {}): JsonSchema => ({
  type: 'string',
  title,
  description,
  maxLength: 20_000,
  ...more,
});
const choice = (description: string, templates: readonly Template[]): JsonSchema => ({
  type: 'string',
  title: 'Template',
  description,
  enum: templates.map(({ id }) => id),
  oneOf: templates.map(({ id, name }) => ({ const: id, title: name })),
  default: templates[0]?.id ?? '',
});
const shared = {
  keywords: text('Keywords', 'Words to use. The keywords column of a row takes precedence.', { default: '' }),
  instructions: text('Instructions', 'Length, tone and required content.', { default: '', format: 'textarea-field' }),
} as const;

const saveLabels: readonly JsonSchema[] = [
  { const: 'draft', title: 'Draft' },
  { const: 'pending', title: 'Pending review' },
  { const: 'publish', title: 'Published' },
];

/** The task types of the content writer. Their code is loaded with the first item. */
export async function contentTaskTypes(writer: ContentWriter): Promise<readonly AutomationTaskType[]> {
  const templates = await writer.templates.list();
  const ofKind = (kind: TemplateKind): Template[] => templates.filter((one) => one.kind === kind);
  const normalize = createNormalize(writer);
  return [
    {
      id: 'content_writing',
      label: 'Write content',
      description: 'Writes a post about each topic, row or feed entry, with a template of the content writer.',
      sources: ['list', 'csv', 'rss'],
      settings: {
        type: 'object',
        properties: {
          template: choice('Template of the content writer', ofKind('write')),
          ...shared,
          read_page: {
            type: 'boolean',
            title: 'Read the page of each feed entry',
            description: 'When off, the model only sees the text in the feed.',
            default: false,
          },
          save: {
            type: 'string',
            title: 'Save as',
            enum: ['draft', 'pending', 'publish'],
            oneOf: saveLabels,
            default: 'draft',
            description: 'Posts are created with the rights of the author of the automation.',
          },
          post_type: text('Post type', 'Name of a post type, such as post or page.', {
            default: 'post',
            maxLength: 20,
          }),
          category: text('Category', 'Stored with the post.', { default: '', maxLength: 100 }),
          tags: text('Tags', 'Separate with commas. Generated tags are added.', {
            default: '',
            maxLength: 2_000,
          }),
        },
        additionalProperties: false,
      },
      normalize,
      check: async (settings) => (await import('./content-writing.ts')).contentWritingErrors(writer, settings),
      run: async (item) => (await import('./content-writing.ts')).runContentWriting(writer, item),
    },
    {
      id: 'post_rewriting',
      label: 'Rewrite posts',
      description: 'Rewrites posts or their SEO fields. The previous version is stored as a revision.',
      sources: ['posts', 'list', 'csv'],
      settings: {
        type: 'object',
        properties: { template: choice('Template of the content writer that rewrites', ofKind('rewrite')), ...shared },
        additionalProperties: false,
      },
      normalize,
      check: async (settings) =>
        (await import('./content-writing.ts')).templateErrors(writer, settings['template'], 'rewrite'),
      run: async (item) => (await import('./content-writing.ts')).runPostRewriting(writer, item),
    },
  ];
}

/** Stores the id of a template that is given by its name: a name may change. */
function createNormalize({
  templates,
}: Pick<ContentWriter, 'templates'>): NonNullable<AutomationTaskType['normalize']> {
  return async (settings) => {
    const given = settings['template'];
    const isNamed = typeof given === 'string' || typeof given === 'number';
    const found = isNamed ? await templates.find(String(given).trim()) : null;
    return found === null ? settings : { ...settings, template: found.id };
  };
}
