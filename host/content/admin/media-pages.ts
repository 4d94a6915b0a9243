import { readFile } from 'node:fs/promises';
import { RestError } from '#plugin-api';
import type { AdminPageBody, AdminRequest, Media, Post } from '#plugin-api';
import { uploadTypes } from '../media/file-types.ts';
import { mediaMeta } from '../media/media.ts';
import type { ContentPagesDependencies } from './content-pages.ts';
import { numberOf, paginate, queryOf, success, textOf } from './form.ts';

const perPage = 24;
const kinds = [
  ['', 'All'],
  ['image', 'Images'],
  ['audio', 'Audio'],
  ['video', 'Video'],
  ['application', 'Documents'],
  ['text', 'Texts'],
] as const;

/** The media library: files with their pictures, by kind and words, and the form to upload one. */
export function createMediaPage(given: ContentPagesDependencies): AdminPageBody {
  const {
    parts: { store, media },
  } = given;
  return {
    render: async (request) => {
      const kind = kinds.some(([name]) => name === queryOf(request, 'kind')) ? queryOf(request, 'kind') : '';
      const search = queryOf(request, 's');
      const page = Math.max(1, numberOf(queryOf(request, 'page')));
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
          limit: Math.floor((await media.limit()) / 1_048_576),
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
        if (file === undefined) return { notice: { kind: 'error', text: 'Choose a file first.' } };
        const saved = await media.save({ bytes: await readFile(file.path), name: file.name }, { as: request.user });
        return success(`“${saved.title}” is in the library.`, { redirect: `media/edit?id=${saved.id}` });
      },
    },
  };
}

/** One file: its address, its texts, its end. */
export function createMediaEditPage({
  parts: { store, media, writer, removal },
}: ContentPagesDependencies): AdminPageBody {
  const find = async ({ user }: AdminRequest, id: number): Promise<Media> => {
    const file = await media.get(id);
    if (file === null)
      throw new RestError({
        code: 'rest_post_invalid_id',
        message: 'There is no such file; perhaps somebody else deleted it.',
        status: 404,
      });
    if (file.post.parentId > 0) await store.get(file.post.parentId);
    if (!user.can('edit_post', file.post))
      throw new RestError({ code: 'rest_cannot_edit', message: 'Your account may not edit this file.', status: 403 });
    return file;
  };
  return {
    render: async (request) => {
      const file = await find(request, numberOf(queryOf(request, 'id')));
      const { excerpt, content } = file.post;
      return {
        template: 'admin/content/media-edit',
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
        const file = await find(request, numberOf(textOf(request, 'id')));
        await writer.update(
          file.id,
          {
            title: textOf(request, 'title') ?? file.title,
            excerpt: textOf(request, 'caption') ?? file.post.excerpt,
            content: textOf(request, 'description') ?? file.post.content,
            meta: { [mediaMeta.alt]: (textOf(request, 'alt') ?? file.alt).trim() },
          },
          { as: request.user },
        );
        return success('It is saved.', { redirect: `media/edit?id=${file.id}` });
      },
      delete: async (request) => {
        const file = await find(request, numberOf(textOf(request, 'id')));
        if (!request.user.can('delete_post', file.post))
          throw new RestError({
            code: 'rest_cannot_delete',
            message: 'Your account may not delete this file.',
            status: 403,
          });
        await removal.delete(file.id, { force: true });
        return success(`“${file.title}” was deleted.`, { redirect: 'media' });
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
    path: `/uploads/${file}`,
    isImage: mimeType.startsWith('image/') && mimeType !== 'image/x-icon',
    size: size < 1_048_576 ? `${Math.max(1, Math.round(size / 1024))} KB` : `${(size / 1_048_576).toFixed(1)} MB`,
    dimensions: width === null || height === null ? '' : `${width} × ${height}`,
  };
}
