import type { Images } from '../images.ts';
import { parseId, formatBytes, translateText, withNotice } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { editImageSlug, imageSlug, imagesSlug, videoSlug } from '../image-names.ts';
import type { StoredImage } from '../store/image.ts';
import { costText, imageTiles, pathOf } from './image-tile.ts';
import { imageProviders, paramLabel } from './job-form.ts';

/** Meta key of WordPress for the alternative text. */
const altKey = '_wp_attachment_image_alt';
const maxPosts = 50;
const postTypes = ['post', 'page'];

export function createPage(parts: Images): AdminPageBody {
  const { host } = parts;
  return {
    render: async ({ query }) => {
      const image = await findImage(parts, query['id']);
      return image === null
        ? { template: 'svc/image', data: { isMissing: true } }
        : {
            template: 'svc/image',
            title: image.prompt.length > 60 ? `${image.prompt.slice(0, 60).trimEnd()}…` : image.prompt,
            data: await view(parts, image),
          };
    },
    actions: {
      alt: async (request) => {
        const image = await imageOfForm(parts, request);
        await host.content.meta.update(image.mediaId, altKey, readText(request, 'alt').trim().slice(0, 1000));
        return back(image, 'Alternative text saved.');
      },
      featured: async (request) => {
        const image = await imageOfForm(parts, request);
        const post = await host.content.posts.get(parseId(readText(request, 'post')));
        if (post === null || !postTypes.includes(post.type) || !request.user.can('edit_post', post))
          return { ...back(image, ''), notice: { kind: 'error', text: 'Choose a post that you can edit.' } };
        await host.content.posts.update(post.id, { featuredMediaId: image.mediaId });
        return back(image, `The image is now the featured image of “${post.title}”.`);
      },
      delete: async (request) => {
        const image = await imageOfForm(parts, request);
        await parts.deleteImage(image);
        request.log.info('Deleted image', { event: 'image_deleted', image: image.id, user_id: request.user.id });
        return withNotice('success', 'Image deleted.', { redirect: imagesSlug });
      },
    },
  };
}

function back({ id }: StoredImage, text: string): AdminActionResult {
  return withNotice('success', text, { redirect: `${imageSlug}?id=${String(id)}` });
}

export async function findImage(parts: Images, id: unknown): Promise<StoredImage | null> {
  return parts.store.get(parseId(id));
}

async function imageOfForm(parts: Images, request: AdminRequest): Promise<StoredImage> {
  const image = await findImage(parts, request.form['id']);
  if (image === null) throw errors.image_not_found();
  return image;
}

async function view(parts: Images, image: StoredImage): Promise<Record<string, unknown>> {
  const { host } = parts;
  const { store } = parts;
  const isVideo = image.mimeType.startsWith('video/');
  const media = await host.content.media.get(image.mediaId);
  const parent = image.parentId === null ? null : await store.get(image.parentId);
  const posts = await host.content.posts.find({
    type: postTypes,
    status: 'any',
    orderBy: 'modified',
    limit: maxPosts,
  });
  const address = (slug: string, query: string): string => `${new URL(host.admin.url(slug)).pathname}?${query}`;
  const user = image.userId > 0 ? ((await host.users.names([image.userId])).get(image.userId) ?? 'a deleted user') : '';
  return {
    id: image.id,
    path: media === null ? null : pathOf(media.url),
    url: media?.url ?? image.url,
    isVideo,
    fileName: media?.file.split('/').at(-1) ?? '',
    alt: media?.alt ?? '',
    dimensions:
      media?.width == null || media.height === null ? '' : `${String(media.width)} × ${String(media.height)} pixels`,
    size: formatBytes(image.bytes),
    prompt: image.prompt,
    revisedPrompt: image.revisedPrompt,
    provider: image.provider,
    model: image.model,
    fileType: image.mimeType.replace(/^(?:image|video)\//, '').toUpperCase(),
    params: Object.values(image.asked).map(paramLabel).join(', '),
    costText: costText(image.cost),
    createdAt: image.createdAt,
    createdBy: creatorOf(image, user),
    parent: parent === null ? null : (await imageTiles(host, [parent]))[0],
    wasEdited: image.mode === 'edit',
    versions: await imageTiles(host, await store.versions(image.id)),
    againHref: address(isVideo ? videoSlug : imagesSlug, `again=${String(image.id)}`),
    editHref:
      imageProviders(parts, 'edit').length > 0 && media !== null && !isVideo
        ? address(editImageSlug, `image=${String(image.id)}`)
        : null,
    mediaHref: address('media/edit', `id=${String(image.mediaId)}`),
    posts: posts.map(({ id, title, type }) => ({
      value: String(id),
      label: `${title || translateText('(no title)')} (${translateText(type === 'page' ? 'Page' : 'Post')})`,
      isData: true,
    })),
    fields: { id: image.id },
  };
}

function creatorOf({ origin, userId }: StoredImage, user: string): string {
  if (origin === 'automated_task_images') return 'an automation';
  if (origin === 'frontend_image_generator') return userId > 0 ? `${user}, on the site` : 'a guest';
  return user || 'the command line';
}
