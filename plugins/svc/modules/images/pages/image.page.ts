import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { errors } from '../../../kit/errors.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { imagesOf } from '../images-of.ts';
import { editImageSlug, imageSlug, imagesSlug } from '../image-names.ts';
import type { StoredImage } from '../store/image.ts';
import { costText, imageTiles, pathOf } from './image-tile.ts';
import { imageProviders } from './model-fields.ts';

/** WordPress's meta key of the alternative text. */
const altKey = '_wp_attachment_image_alt';
const mostPosts = 50;
const postTypes = ['post', 'page'];

/** One image: what it shows, what it was made of, its versions, and what can be done with it. */
export function imagePage(context: ServiceContext): AdminPageBody {
  const { host } = context;
  return {
    render: async ({ query }) => {
      const image = await findImage(context, query['id']);
      return { template: 'svc/image', data: image === null ? { isGone: true } : await view(context, image) };
    },
    actions: {
      alt: async (request) => {
        const image = await imageOfForm(context, request);
        await host.content.meta.update(image.mediaId, altKey, readText(request, 'alt').trim().slice(0, 1000));
        return back(image, 'The alternative text is saved.');
      },
      featured: async (request) => {
        const image = await imageOfForm(context, request);
        const post = await host.content.posts.get(Number(readText(request, 'post')));
        if (post === null || !postTypes.includes(post.type) || !request.user.can('edit_post', post))
          return { ...back(image, ''), notice: { kind: 'error', text: 'Choose a post that you may edit.' } };
        await host.content.posts.update(post.id, { featuredMediaId: image.mediaId });
        return back(image, `It is the featured image of “${post.title}” now.`);
      },
      delete: async (request) => {
        const image = await imageOfForm(context, request);
        await imagesOf(context).deleteImage(image);
        request.log.info('An image was deleted.', { image: image.id, by: request.user.id });
        return { notice: { kind: 'success', text: 'The image and its file are deleted.' }, redirect: imagesSlug };
      },
    },
  };
}

function back({ id }: StoredImage, text: string): AdminActionResult {
  return { notice: { kind: 'success', text }, redirect: `${imageSlug}?id=${String(id)}` };
}

export async function findImage(context: ServiceContext, id: unknown): Promise<StoredImage | null> {
  return typeof id === 'string' && /^[1-9]\d{0,8}$/.test(id) ? imagesOf(context).store.get(Number(id)) : null;
}

async function imageOfForm(context: ServiceContext, request: AdminRequest): Promise<StoredImage> {
  const image = await findImage(context, request.form['id']);
  if (image === null) throw errors.image_not_found();
  return image;
}

async function view(context: ServiceContext, image: StoredImage): Promise<Record<string, unknown>> {
  const { host } = context;
  const { store } = imagesOf(context);
  const media = await host.content.media.get(image.mediaId);
  const parent = image.parentId === null ? null : await store.get(image.parentId);
  const posts = await host.content.posts.find({
    type: postTypes,
    status: 'any',
    orderBy: 'modified',
    limit: mostPosts,
  });
  const address = (slug: string, query: string): string => `${new URL(host.admin.url(slug)).pathname}?${query}`;
  const user =
    image.userId > 0 ? ((await host.users.names([image.userId])).get(image.userId) ?? 'a user that is gone') : '';
  return {
    id: image.id,
    path: media === null ? null : pathOf(media.url),
    url: media?.url ?? image.url,
    fileName: media?.file.split('/').at(-1) ?? '',
    alt: media?.alt ?? '',
    dimensions:
      media?.width == null || media.height === null ? '' : `${String(media.width)} × ${String(media.height)} pixels`,
    kilobytes: Math.max(1, Math.round(image.bytes / 1024)),
    prompt: image.prompt,
    revisedPrompt: image.revisedPrompt,
    provider: image.provider,
    model: image.model,
    mimeType: image.mimeType,
    asked: Object.values(image.asked).join(', '),
    costText: costText(image.cost),
    madeAt: image.createdAt,
    madeBy: madeBy(image, user),
    parent: parent === null ? null : (await imageTiles(host, [parent]))[0],
    wasEdited: image.mode === 'edit',
    versions: await imageTiles(host, await store.versions(image.id)),
    againHref: address(imagesSlug, `again=${String(image.id)}`),
    editHref:
      (await imageProviders(context, 'edit')).length > 0 && media !== null
        ? address(editImageSlug, `image=${String(image.id)}`)
        : null,
    mediaHref: address('media/edit', `id=${String(image.mediaId)}`),
    posts: posts.map(({ id, title, type }) => ({ value: String(id), label: `${title || '(no title)'} (${type})` })),
    fields: { id: image.id },
  };
}

function madeBy({ origin, userId }: StoredImage, user: string): string {
  if (origin === 'automated_task_images') return 'an automation';
  if (origin === 'frontend_image_generator') return userId > 0 ? `${user}, on the site` : 'a guest of the site';
  return user || 'the command line';
}
