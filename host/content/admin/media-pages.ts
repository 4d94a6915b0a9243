import { readFile } from 'node:fs/promises';
import { RestError, formatBytes, withNotice } from '#plugin-api';
import type { AdminPageBody, AdminRequest, Media, Post } from '#plugin-api';
import { uploadTypes } from '../media/file-types.ts';
import { mediaMeta } from '../media/media.ts';
import type { ContentPagesDependencies } from './content-pages.ts';
import { parseId, paginate, readQuery, readText } from './form.ts';

const perPage = 24;
const kinds = [
  ['', 'All'],
  ['image', 'Images'],
  ['audio', 'Audio'],
  ['video', 'Video'],
  ['application', 'Documents'],
  ['text', 'Text files'],
] as const;

/** The media library with type filter, search and upload form. */
export function createMediaPage(given: ContentPagesDependencies): AdminPageBody {
  const {
    parts: { store, media },
  } = given;
  return {
    render: async (request) => {
      const kind = kinds.some(([name]) => name === readQuery(request, 'kind')) ? readQuery(request, 'kind') : '';
      const search = readQuery(request, 's');
      const page = Math.max(1, parseId(readQuery(request, 'page')));
      const query = {
        type: 'attachment',
        status: 'any',
        visibleTo: request.user,
        ...(search !== '' && { search }),
        ...(kind !== '' && { mimeType: kind }),
      };
      const total = await store.count(query);
      const files = await media.describe(await store.find({ ...query, limit: perPage, offset: (page - 1) * perPage }));
      return {
        template: 'admin/content/media',
        data: {
          search,
          total,
          isFiltered: search !== '' || kind !== '',
          limit: formatBytes(await media.limit()),
          accept: Object.keys(uploadTypes)
            .map((extension) => `.${extension}`)
            .join(','),
          tabs: kinds.map(([name, label]) => ({
            label,
            href: name === '' ? '?' : `?kind=${name}`,
            current: name === kind,
          })),
          files: files.map((file) => ({
            ...describe(file),
            editUrl: request.user.can('edit_post', file.post) ? `media/edit?id=${file.id}` : null,
          })),
          pagination: paginate({ total, page, perPage, query: { kind, s: search } }),
        },
      };
    },
    actions: {
      upload: async (request) => {
        const file = request.files?.['file'];
        if (file === undefined) return withNotice('error', 'Choose a file.');
        const saved = await media.save({ bytes: await readFile(file.path), name: file.name }, { as: request.user });
        return withNotice('success', `“${saved.title}” uploaded.`, { redirect: `media/edit?id=${saved.id}` });
      },
    },
  };
}

/** One file: URL, texts and deletion. */
export function createMediaEditPage({
  parts: { store, media, writer, removal },
}: ContentPagesDependencies): AdminPageBody {
  const find = async ({ user }: AdminRequest, id: number): Promise<Media> => {
    const file = await media.get(id);
    if (file === null)
      throw new RestError({
        code: 'rest_post_invalid_id',
        message: 'This file does not exist. It may have been deleted.',
        status: 404,
      });
    if (file.post.parentId > 0) await store.get(file.post.parentId);
    if (!user.can('edit_post', file.post))
      throw new RestError({ code: 'rest_cannot_edit', message: 'You are not allowed to edit this file.', status: 403 });
    return file;
  };
  return {
    render: async (request) => {
      const file = await find(request, parseId(readQuery(request, 'id')));
      const { excerpt, content } = file.post;
      return {
        template: 'admin/content/media-edit',
        title: file.post.title === '' ? 'Edit file' : file.post.title,
        data: {
          ...describe(file),
          caption: excerpt,
          description: content,
          uploadedAt: file.post.date,
          mayDelete: request.user.can('delete_post', file.post),
          fields: { id: String(file.id) },
        },
      };
    },
    actions: {
      save: async (request) => {
        const file = await find(request, parseId(readText(request, 'id')));
        await writer.update(
          file.id,
          {
            title: readText(request, 'title') ?? file.title,
            excerpt: readText(request, 'caption') ?? file.post.excerpt,
            content: readText(request, 'description') ?? file.post.content,
            meta: { [mediaMeta.alt]: (readText(request, 'alt') ?? file.alt).trim() },
          },
          { as: request.user },
        );
        return withNotice('success', 'File saved.', { redirect: `media/edit?id=${file.id}` });
      },
      delete: async (request) => {
        const file = await find(request, parseId(readText(request, 'id')));
        if (!request.user.can('delete_post', file.post))
          throw new RestError({
            code: 'rest_cannot_delete',
            message: 'You are not allowed to delete this file.',
            status: 403,
          });
        await removal.delete(file.id, { force: true });
        return withNotice('success', `“${file.title}” deleted.`, { redirect: 'media' });
      },
    },
  };
}

function describe({
  id,
  url,
  file,
  mimeType,
  size,
  width,
  height,
  title,
  alt,
  isPrivate,
  post,
}: Media): Record<string, unknown> & { readonly post: Post } {
  return {
    id,
    url,
    title: title || 'Untitled',
    alt,
    mimeType,
    post,
    name: file.split('/').at(-1),
    path: new URL(url).pathname,
    isPrivate,
    isImage: mimeType.startsWith('image/') && mimeType !== 'image/x-icon',
    size: formatBytes(size),
    dimensions: width === null || height === null ? '' : `${width} × ${height}`,
  };
}
