import type { Images } from './images.ts';
import { restError, type JsonSchema, type Post } from '#plugin-api';
import type { AutomationItem, AutomationResult, AutomationTaskType } from '../../kit/automation-task.ts';
import { fillItemPrompt, findItemPost, taskModelSchema } from '../../kit/automation-prompt.ts';
import { errors } from '../../kit/errors.ts';
import { imageParamSchemas, type ImageParams } from '../../kit/image-params.ts';
import type { JobResult } from './generation/image-job.ts';

interface ImageTaskSettings extends ImageParams {
  readonly provider: string;
  readonly model?: string;
  readonly prompt: string;
  readonly n: number;
  readonly featured: 'missing' | 'always' | 'never';
}

const featuredSchema: JsonSchema = {
  type: 'string',
  title: 'Featured image of a post',
  enum: ['missing', 'always', 'never'],
  ui: { labels: { missing: 'Only if missing', always: 'Always replace' } },
  default: 'missing',
  description:
    'Only if missing: skips posts that have one, at no cost. Never: only adds the image to the media library.',
};

const optional = (schema: JsonSchema): JsonSchema => ({
  ...schema,
  enum: ['', ...(schema.enum ?? [])],
  default: '',
  description: 'Models that do not support it ignore it.',
});

/** The task `image_generation` of automations: generates images for topics, or featured images for posts. */
export async function createImageTask(parts: Images): Promise<AutomationTaskType> {
  const imageProviders = parts.providers.all().filter(({ images }) => images !== undefined);
  const settings: JsonSchema = {
    type: 'object',
    properties: {
      provider: {
        type: 'string',
        title: 'Provider',
        enum: imageProviders.map(({ id }) => id),
        default: imageProviders[0]?.id ?? '',
      },
      model: taskModelSchema,
      prompt: {
        type: 'string',
        title: 'Prompt',
        format: 'textarea-field',
        default: 'An illustration for: {title}',
        description:
          '{target} is the queued item, {title} and {excerpt} are those of the post or entry. Use {name} for any other column.',
      },
      n: { type: 'integer', title: 'Images', minimum: 1, maximum: 4, default: 1 },
      size: { ...imageParamSchemas.size, pattern: `^$|${imageParamSchemas.size.pattern}`, default: '' },
      quality: optional(imageParamSchemas.quality),
      style: optional(imageParamSchemas.style),
      featured: featuredSchema,
    },
  };
  return {
    id: 'image_generation',
    label: 'Generate images',
    description: 'Generates images for topics, or featured images for posts.',
    settings,
    sources: ['list', 'csv', 'rss', 'posts'],
    check: async ({ provider, model, prompt }) =>
      Promise.resolve({
        ...(typeof prompt === 'string' && prompt.trim() === '' && { prompt: 'Enter a prompt.' }),
        ...(typeof model === 'string' && model.length > 200 && { model: 'Use at most 200 characters.' }),
        ...(!imageProviders.some(({ id }) => id === provider) && {
          provider: 'Choose a provider that can generate images.',
        }),
      }),
    run: (item) => run(parts, item),
  };
}

async function run(parts: Images, item: AutomationItem): Promise<AutomationResult> {
  const { host } = parts;
  const settings = item.settings as unknown as ImageTaskSettings;
  const post = await findItemPost(host, item);
  if (post !== null && settings.featured === 'missing' && post.featuredMediaId > 0)
    return { message: `“${post.title}” already has a featured image.` };
  const { generator } = parts;
  const prompt = fillItemPrompt(settings.prompt, item, post);
  if (prompt.trim() === '') throw errors.empty_input({ values: { name: 'The prompt' } });
  const result = await generator.prepare(
    {
      request: item.key,
      prompt,
      provider: settings.provider,
      n: settings.n,
      params: paramsOf(settings),
      origin: 'automated_task_images',
      userId: item.task.authorId,
      sessionId: null,
      ...(settings.model !== undefined && settings.model.trim() !== '' && { model: settings.model.trim() }),
    },
    { signal: item.signal, usage: item.origin },
  );
  return {
    message: messageOf(result, post),
    ai: { provider: result.provider, model: result.model },
    async commit(transaction) {
      const [first] = await generator.commit(item.key, transaction);
      if (first === undefined)
        throw restError(500, 'rest_svc_image_not_found', 'The images were deleted before the item was completed.');
      if (post === null || settings.featured === 'never') return {};
      await host.content.posts.update(post.id, { featuredMediaId: first.mediaId });
      return { postId: post.id };
    },
  };
}

function paramsOf({ size, quality, style }: ImageTaskSettings): ImageParams {
  return { ...(size && { size }), ...(quality && { quality }), ...(style && { style }) };
}

function messageOf({ message }: JobResult, post: Post | null): string {
  return post === null ? message : `${message.replace(/\.$/, '')} for “${post.title}”.`;
}
