import {
  DocumentError,
  localDay,
  type Clock,
  type DocumentsApi,
  type HooksApi,
  type Logger,
  type Media,
  type MediaApi,
  type NewMedia,
  type OptionsApi,
  type Post,
  type PostWrite,
  type SiteApi,
} from '#plugin-api';
import { contentErrors } from '../errors.ts';
import type { Meta } from '../meta/meta.ts';
import type { PostRemoval } from '../posts/post-removal.ts';
import type { PostStore } from '../posts/post-store.ts';
import type { PostWriter } from '../posts/post-writer.ts';
import { uploadTypes } from './file-types.ts';
import type { Dimensions, inspectUpload } from './upload.reader.ts';
import { isPrivatePath, privatePath, type UploadStore } from './upload-store.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** Allowed file extensions with their types. Executable types are always rejected. */
    upload_mimes: (types: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;
    /** Size, type and dimensions of a new file, before they are stored. */
    wp_generate_attachment_metadata: (metadata: MediaFacts) => MediaFacts;
  }
}

export const mediaMeta = {
  file: '_wp_attached_file',
  facts: '_wp_attachment_metadata',
  alt: '_wp_attachment_image_alt',
} as const;
/** Where the file of an entry that becomes private moves to, until it has. */
const targetMeta = '_private_file';
export const uploadLimitSetting = 'upload_limit_mb';

export interface MediaFacts {
  /** Bytes. */
  readonly filesize: number;
  /** Pixels; absent for files that are not images. */
  readonly width?: number;
  readonly height?: number;
}

export interface MediaDependencies {
  readonly store: PostStore;
  readonly writer: PostWriter;
  readonly removal: () => PostRemoval;
  readonly meta: Meta;
  readonly uploads: UploadStore;
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync'>;
  readonly options: Pick<OptionsApi, 'get'>;
  readonly site: Pick<SiteApi, 'url' | 'timezone'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly documents: DocumentsApi;
  readonly log: Logger;
}

export interface MediaLibrary extends MediaApi {
  /** Describes attachments in the given order, without those that have no file. */
  describe(attachments: readonly Post[]): Promise<Media[]>;
  /** Bytes. */
  limit(): Promise<number>;
  /** The last known limit. Also starts reading the current one for the next call. */
  limitNow(): number;
  /** Returns a function that deletes the file of an attachment, to call after its row is deleted. */
  removeFile(attachment: Post): Promise<() => void>;
}

/** The media library: files in the store of uploads, each with a post of type `attachment`. */
export function createMediaLibrary(given: MediaDependencies): MediaLibrary {
  const { store, meta, uploads, options, site, log } = given;
  let lastLimit = 10 * 1_048_576;
  const limit = async (): Promise<number> =>
    (lastLimit = Math.max(0, Number(await options.get(uploadLimitSetting))) * 1_048_576);
  const toMedia = createToMedia(site);

  async function describe(attachments: readonly Post[]): Promise<Media[]> {
    const values = await meta.load(
      attachments.map(({ id }) => id),
      Object.values(mediaMeta),
    );
    return attachments.map((post) => toMedia(post, values.get(post.id))).filter((media) => media !== null);
  }
  async function get(id: number): Promise<Media | null> {
    const post = await store.get(id);
    return post?.type === 'attachment' ? ((await describe([post]))[0] ?? null) : null;
  }

  return {
    limit,
    limitNow() {
      limit().catch((error: unknown) =>
        log.error('Failed to read the upload limit', { event: 'upload_limit_failed', error }),
      );
      return lastLimit;
    },
    describe,
    get,
    async save(media, write = {}) {
      const { file, type, dimensions } = await storeFile(given, media, await limit());
      try {
        const id = await createAttachment(given, { media, file, type, dimensions, write });
        const saved = await get(id);
        if (saved === null) throw new Error(`The attachment ${id} was deleted while it was being created.`);
        return saved;
      } catch (error) {
        await uploads.remove(file);
        throw error;
      }
    },
    url: async (id) => (await get(id))?.url ?? null,
    async read(id) {
      const media = await get(id);
      return media === null ? null : uploads.read(media.file);
    },
    async makePrivate(id) {
      const media = await get(id);
      if (media === null) return null;
      await hideMedia(given, media);
      return get(id);
    },
    async delete(id) {
      return (await get(id)) !== null && (await given.removal().delete(id, { force: true })) !== null;
    },
    async removeFile({ id }) {
      const file = (await meta.load([id], [mediaMeta.file])).get(id)?.get(mediaMeta.file)?.[0];
      return () => {
        if (typeof file !== 'string') return;
        uploads.remove(file).catch((error: unknown) =>
          log.error('Failed to delete the file of an attachment', {
            event: 'attachment_file_not_deleted',
            file,
            error,
          }),
        );
      };
    },
  };
}

interface StoredFile {
  readonly file: string;
  readonly type: string;
  readonly dimensions: Dimensions;
}

/** Checks size, name and content, then stores the file. */
async function storeFile(
  { hooks, uploads, site, clock, documents, log }: MediaDependencies,
  { bytes, name, isPrivate = false }: NewMedia,
  limit: number,
): Promise<StoredFile> {
  if (bytes.length === 0) throw contentErrors.rest_upload_no_data();
  if (bytes.length > limit)
    throw contentErrors.rest_upload_file_too_big({ values: { limit: `${limit / 1_048_576} MB` } });
  const allowed = await hooks.applyFiltersAsync('upload_mimes', uploadTypes);
  const checked = await documents
    .read<typeof inspectUpload>({
      module: new URL('./upload.reader.ts', import.meta.url),
      reader: 'inspectUpload',
      input: { bytes, name, allowed },
    })
    .catch((error: unknown) => {
      if (error instanceof DocumentError) return error.message;
      throw error;
    });
  if (typeof checked === 'string') throw contentErrors.rest_upload_sideload_error({ values: { reason: checked } });
  const { extension, mimeType, ...dimensions } = checked;
  const month = localDay(clock.now(), await site.timezone())
    .slice(0, 7)
    .replace('-', '/');
  try {
    return {
      file: await uploads.write({ month, name, extension, bytes, isPrivate }),
      type: mimeType,
      dimensions,
    };
  } catch (cause) {
    log.error('Failed to store an upload', { event: 'upload_failed', error: cause });
    throw contentErrors.rest_upload_failed({ cause });
  }
}

async function createAttachment(
  given: MediaDependencies,
  { media, file, type, dimensions, write }: StoredFile & { readonly media: NewMedia; readonly write: PostWrite },
): Promise<number> {
  const { hooks, writer } = given;
  const facts = await hooks.applyFiltersAsync('wp_generate_attachment_metadata', {
    filesize: media.bytes.length,
    ...dimensions,
  });
  const post = await writer.create(
    {
      type: 'attachment',
      mimeType: type,
      title: media.title ?? titleFromName(media.name),
      content: media.description ?? '',
      excerpt: media.caption ?? '',
      ...(media.isPrivate === true && { status: 'private' }),
      ...(media.parentId !== undefined && { parentId: media.parentId }),
      ...(media.authorId !== undefined && { authorId: media.authorId }),
      meta: {
        [mediaMeta.file]: file,
        [mediaMeta.facts]: facts,
        ...(media.alt !== undefined && { [mediaMeta.alt]: media.alt }),
      },
    },
    write,
  );
  return post.id;
}

/**
 * Moves the file, then writes status and path together. The new path is stored first, so that an interrupted move is
 * completed by the next call.
 */
async function hideMedia({ meta, uploads, writer, log }: MediaDependencies, { id, file }: Media): Promise<void> {
  if (isPrivatePath(file)) {
    await writer.update(id, { status: 'private' });
    return;
  }
  const [month, extension] = [file.slice(0, 7), file.slice(file.lastIndexOf('.') + 1)];
  const planned = await meta.get(id, targetMeta);
  const target = typeof planned === 'string' ? planned : privatePath(month, extension);
  if (planned !== target) await meta.update(id, targetMeta, target);
  if (!(await uploads.move(file, target)))
    log.warn('The file of private media is missing', { event: 'private_file_missing', media: id, file });
  await writer.update(id, { status: 'private', meta: { [mediaMeta.file]: target, [targetMeta]: null } });
}

function titleFromName(name: string): string {
  return (name.split(/[/\\]/).at(-1) ?? '').replace(/\.[^.]*$/, '').trim() || 'File';
}

function createToMedia(
  site: Pick<SiteApi, 'url'>,
): (post: Post, values: ReadonlyMap<string, unknown[]> | undefined) => Media | null {
  return (post, values) => {
    const [file] = values?.get(mediaMeta.file) ?? [];
    if (typeof file !== 'string') return null;
    const facts = (values?.get(mediaMeta.facts)?.[0] ?? {}) as Partial<MediaFacts>;
    const [alt] = values?.get(mediaMeta.alt) ?? [];
    const path = isPrivatePath(file) ? `private/${post.id}/${file.split('/').at(-1) ?? ''}` : file;
    return {
      id: post.id,
      url: `${site.url}/uploads/${path.split('/').map(encodeURIComponent).join('/')}`,
      file,
      mimeType: post.mimeType,
      size: facts.filesize ?? 0,
      width: facts.width ?? null,
      height: facts.height ?? null,
      title: post.title,
      alt: typeof alt === 'string' ? alt : '',
      isPrivate: post.status === 'private',
      post,
    };
  };
}
