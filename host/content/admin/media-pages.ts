import { readFile } from 'node:fs/promises';
import {
  parseId,
  restError,
  type RestError,
  backToList,
  clampPage,
  formatBytes,
  formatCount,
  listQuery,
  listView,
  readIds,
  readList,
  withNotice,
  translateText,
} from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, AdminView, Media, Post } from '#plugin-api';
import { uploadTypes } from '../media/file-types.ts';
import { mediaMeta } from '../media/media.ts';
import type { ContentPagesDependencies } from './content-pages.ts';
import { readQuery, readText } from './form.ts';

const kinds = [
  ['', 'All'],
  ['image', 'Images'],
  ['audio', 'Audio'],
  ['video', 'Video'],
  ['application', 'Documents'],
  ['text', 'Text files'],
] as const;

/** The media library with type filter, search, sorting, upload form and deletion of several files. */
export function createMediaPage(given: ContentPagesDependencies): AdminPageBody {
  const { media } = given.parts;
  return {
    render: (request) => renderLibrary(given, request),
    actions: {
      upload: async (request) => {
        const file = request.files?.['file'];
        if (file === undefined) return withNotice('error', 'Choose a file.');
        const saved = await media.save({ bytes: await readFile(file.path), name: file.name }, { as: request.user });
        return withNotice('success', `“${saved.title}” uploaded.`, { redirect: `media/edit?id=${saved.id}` });
      },
      bulk: (request) => deleteFiles(given, request),
    },
  };
}

async function renderLibrary(
  { parts: { store, media } }: ContentPagesDependencies,
  request: AdminRequest,
): Promise<AdminView> {
  const [kind, kindLabel] = kinds.find(([name]) => name === readQuery(request, 'kind')) ?? kinds[0];
  const search = readQuery(request, 's');
  const query = {
    type: 'attachment',
    status: 'any',
    visibleTo: request.user,
    ...(search !== '' && { search }),
    ...(kind !== '' && { mimeType: kind }),
  };
  const total = await store.count(query);
  const list = clampPage(
    readList(request, { sortable: ['date', 'title'], order: 'desc', filters: { kind, s: search } }),
    total,
  );
  const page = { limit: list.perPage, offset: (list.page - 1) * list.perPage };
  const posts = await store.find(
    { ...query, ...page, orderBy: list.sort as 'date' | 'title', order: list.order },
    total,
  );
  const files = (await media.describe(posts)).map((file) => ({
    ...describe(file),
    editUrl: request.user.can('edit_post', file.post) ? `media/edit?id=${file.id}` : null,
    mayDelete: request.user.can('delete_post', file.post),
  }));
  const searched = search === '' ? {} : { s: search };
  return {
    template: 'admin/content/media',
    data: {
      search,
      searchFields: { kind },
      isFiltered: search !== '' || kind !== '',
      limit: formatBytes(await media.limit()),
      accept: Object.keys(uploadTypes)
        .map((extension) => `.${extension}`)
        .join(','),
      tabs: kinds.map(([name, label]) => ({
        label,
        href: `?${new URLSearchParams({ ...(name !== '' && { kind: name }), ...searched }).toString()}`,
        current: name === kind,
      })),
      files,
      mayDeleteAny: files.some(({ mayDelete }) => mayDelete),
      bulkFields: { back: listQuery(list) },
      bulkOptions: [
        {
          value: 'delete',
          label: 'Delete permanently',
          confirm: 'Delete the selected files permanently? Posts that use them will show a missing image.',
        },
      ],
      list: listView(list, {
        total,
        text: formatCount(total, 'file'),
        chips: { kind: kindLabel, s: `Search: ${search}` },
        columns: [
          { label: 'Date', key: 'date' },
          { label: 'Title', key: 'title' },
        ],
      }),
    },
  };
}

/** Deletes the selected files, or none if one of them may not be deleted. */
async function deleteFiles(
  { parts: { media, removal, store } }: ContentPagesDependencies,
  request: AdminRequest,
): Promise<AdminActionResult> {
  const files: Media[] = [];
  for (const id of readIds(request)) {
    const file = await media.get(id);
    if (file === null) continue;
    // Loads what the capability depends on.
    if (file.post.parentId > 0) await store.get(file.post.parentId);
    if (!request.user.can('delete_post', file.post)) throw mayNotDelete();
    files.push(file);
  }
  for (const { id } of files) await removal.delete(id, { force: true });
  const [first] = files;
  const what = files.length === 1 ? `“${first?.title ?? ''}”` : formatCount(files.length, 'file');
  return withNotice('success', `${what} deleted.`, {
    redirect: backToList(request, 'media', ['kind', 's']).redirect,
  });
}

function mayNotDelete(): RestError {
  return restError(403, 'rest_cannot_delete', 'You are not allowed to delete this file.');
}

/** One file: URL, texts and deletion. */
export function createMediaEditPage({
  parts: { store, media, writer, removal },
}: ContentPagesDependencies): AdminPageBody {
  const find = async ({ user }: AdminRequest, id: number): Promise<Media> => {
    const file = await media.get(id);
    if (file === null)
      throw restError(404, 'rest_post_invalid_id', 'This file does not exist. It may have been deleted.');
    if (file.post.parentId > 0) await store.get(file.post.parentId);
    if (!user.can('edit_post', file.post))
      throw restError(403, 'rest_cannot_edit', 'You are not allowed to edit this file.');
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
        if (!request.user.can('delete_post', file.post)) throw mayNotDelete();
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
    title: title || translateText('Untitled'),
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
