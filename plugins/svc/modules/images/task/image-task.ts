import { RestError, type JsonSchema, type Post } from '#plugin-api';
import type { AutomationItem, AutomationResult, AutomationTaskType } from '../../../kit/automation-task.ts';
import type { ServiceContext } from '../../../wiring.ts';
import { errors } from '../../../kit/errors.ts';
import { imageParamSchemas, type ImageParams } from '../../../kit/image-params.ts';
import type { DrawnImages } from '../draw/image-job.ts';
import { imagesOf } from '../images-of.ts';
import { fillPrompt, postWords } from './task-prompt.ts';

interface ImageTaskSettings extends ImageParams {
  readonly provider: string;
  readonly model?: string;
  readonly prompt: string;
  readonly n: number;
  readonly featured: 'missing' | 'always' | 'never';
}

/** Automations' `image_generation`: a topic becomes images of the media library, a post gets its featured image. */
export async function createImageTask(context: ServiceContext): Promise<AutomationTaskType> {
  const drawing = (await context.providers.all()).filter(({ images }) => images !== undefined);
  const settings: JsonSchema = {
    type: 'object',
    properties: {
      provider: { type: 'string', title: 'Provider', enum: drawing.map(({ id }) => id), default: drawing[0]?.id ?? '' },
      model: {
        type: 'string',
        title: 'Model',
        description: 'Left empty: the one that is set for the provider.',
        default: '',
      },
      prompt: {
        type: 'string',
        title: 'Prompt',
        format: 'textarea-field',
        default: 'An illustration for: {title}',
        description:
          '{target} is what was queued; {title} and {excerpt} those of the post or entry; other columns stand under their names.',
      },
      n: { type: 'integer', title: 'Images', minimum: 1, maximum: 4, default: 1 },
      size: { ...imageParamSchemas.size, pattern: `^$|${imageParamSchemas.size.pattern}`, default: '' },
      quality: {
        type: 'string',
        title: 'Quality',
        enum: ['', 'standard', 'hd'],
        default: '',
        description: 'Where the model supports it.',
      },
      style: {
        type: 'string',
        title: 'Style',
        enum: ['', 'vivid', 'natural'],
        default: '',
        description: 'Where the model supports it.',
      },
      featured: {
        type: 'string',
        title: 'Featured image of a post',
        enum: ['missing', 'always', 'never'],
        default: 'missing',
        description: 'missing: posts that have one are passed over, and nothing is drawn. always: it is replaced.',
      },
    },
  };
  return {
    id: 'image_generation',
    label: 'Generate images',
    description: 'Draws images for topics, or the featured images of posts.',
    settings,
    sources: ['list', 'csv', 'rss', 'posts'],
    check: async ({ provider, model, prompt }) =>
      Promise.resolve({
        ...(typeof prompt === 'string' && prompt.trim() === '' && { prompt: 'The prompt must not be empty.' }),
        ...(typeof model === 'string' && model.length > 200 && { model: 'The model’s name is too long.' }),
        ...(!drawing.some(({ id }) => id === provider) && { provider: 'Choose a provider that draws.' }),
      }),
    run: (item) => run(context, item),
  };
}

async function run(context: ServiceContext, item: AutomationItem): Promise<AutomationResult> {
  const { host } = context;
  const settings = item.settings as unknown as ImageTaskSettings;
  const post = await postOf(context, item);
  if (post !== null && settings.featured === 'missing' && post.featuredMediaId > 0)
    return { message: `“${post.title}” has a featured image already.` };
  const { drawing } = imagesOf(context);
  const prompt = fillPrompt(settings.prompt, {
    target: item.target,
    ...item.input,
    ...(post !== null && postWords(post)),
  });
  if (prompt.trim() === '') throw errors.empty_input({ values: { name: 'The prompt' } });
  const drawn = await drawing.prepare(
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
    message: messageOf(drawn, post),
    ai: { provider: drawn.provider, model: drawn.model },
    async commit(transaction) {
      const [first] = await drawing.commit(item.key, transaction);
      if (first === undefined)
        throw new RestError({
          code: 'rest_svc_image_not_found',
          status: 500,
          message: 'The images were deleted before they were kept.',
        });
      if (post === null || settings.featured === 'never') return {};
      await host.content.posts.update(post.id, { featuredMediaId: first.mediaId });
      return { postId: post.id };
    },
  };
}

/** The post an item names; null: it is about a topic. @throws RestError when it is gone. */
async function postOf({ host }: ServiceContext, { input }: AutomationItem): Promise<Post | null> {
  const id = Number(input['post_id'] ?? 0);
  if (!Number.isInteger(id) || id < 1) return null;
  const post = await host.content.posts.get(id);
  if (post === null || post.status === 'trash')
    throw new RestError({
      code: 'rest_post_invalid_id',
      status: 404,
      message: `The post ${String(id)} is not there any more.`,
    });
  return post;
}

function paramsOf({ size, quality, style }: ImageTaskSettings): ImageParams {
  return { ...(size && { size }), ...(quality && { quality }), ...(style && { style }) };
}

function messageOf({ message }: DrawnImages, post: Post | null): string {
  return post === null ? message : `${message.replace(/\.$/, '')} for “${post.title}”.`;
}
