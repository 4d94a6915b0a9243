import { restError } from '#plugin-api';
import { createHash } from 'node:crypto';
import type { NewMedia, Params, PostType, RestError, RouteDefinition } from '#plugin-api';
import { isMultipart, readMultipart } from '../media/multipart.ts';
import { postUrl, created, invalidValue, refused, type ContentRestDependencies, type Request } from './context.ts';
import { createdResponse } from './context.ts';
import type { PostResponses } from './post-response.ts';
import { checkReferences, readPostInput } from './post-input.ts';
import { postSchema, writeArguments } from './post-schema.ts';
import { updateFields } from './rest-fields.ts';

/** Bytes that a multipart form may add to the file. */
const formOverhead = 262_144;

/** `POST /wp/v2/media`: a file as the body, named by `Content-Disposition`, or as the field `file` of a multipart form. */
export function uploadRoute(
  given: ContentRestDependencies,
  type: PostType,
  postResponses: PostResponses,
): RouteDefinition {
  const { parts } = given;
  return {
    methods: ['POST'],
    args: writeArguments(type, parts, true),
    schema: postSchema(type, parts),
    summary: 'Uploads a file.',
    consumes: ['multipart/form-data', '*/*'],
    responses: createdResponse,
    get bodyLimit() {
      return parts.media.limitNow() + formOverhead;
    },
    permissionBeforeBody: mayUpload,
    permission: async (request) => {
      const allowed = mayUpload(request);
      return allowed === true ? ((await mayAttach(given, request, request.params)) ?? true) : allowed;
    },
    async handler(request) {
      const { file, params } = await readFile(given, request);
      const refusal = await mayAttach(given, request, params);
      if (refusal !== null) return refusal;
      const reading = { type, request, params, before: null };
      await checkReferences(given, reading);
      const input = await readPostInput(given, reading);
      const media = await parts.media.save(
        {
          ...file,
          ...(input.title !== undefined && { title: input.title }),
          ...(input.parentId !== undefined && { parentId: input.parentId }),
        },
        { as: request.user },
      );
      const { title: _title, parentId: _parentId, ...rest } = input;
      const post =
        Object.keys(rest).length === 0 ? media.post : await parts.writer.update(media.id, rest, { as: request.user });
      await given.hooks.doActionAsync('rest_insert_attachment', post, request, true);
      await updateFields(parts.fields, { type: type.name, item: post, request });
      await given.hooks.doActionAsync('rest_after_insert_attachment', post, request, true);
      return created(await postResponses.one(post, request, 'edit'), postUrl(given, type, post));
    },
  };
}

function mayUpload({ user }: Pick<Request, 'user'>): true | RestError {
  if (user.can('upload_files')) return true;
  return refused({ user }, 'rest_cannot_create', 'Sorry, you are not allowed to upload media on this site.');
}

/** Checks that the parent post exists and that the user can edit it. */
async function mayAttach(
  { parts: { store } }: ContentRestDependencies,
  request: Request,
  params: Params,
): Promise<RestError | null> {
  const parentId = Number(params['post'] ?? 0);
  if (parentId === 0) return null;
  const parent = await store.get(parentId);
  if (parent === null || parent.type === 'revision' || parent.type === 'attachment')
    return invalidValue({ name: 'post', message: 'Invalid parent type.' });
  return request.user.can('edit_post', parent)
    ? null
    : refused(request, 'rest_cannot_edit', 'Sorry, you are not allowed to upload media to this post.');
}

interface ReadUpload {
  readonly file: Pick<NewMedia, 'bytes' | 'name'>;
  /** Parameters of the request, including the fields of a multipart form. */
  readonly params: Params;
}

async function readFile({ parts: { media } }: ContentRestDependencies, request: Request): Promise<ReadUpload> {
  const { headers, body, params } = request;
  const contentType = headers['content-type'];
  if (isMultipart(contentType)) {
    const limit = await media.limit();
    const { fields, files } = await readMultipart(
      body,
      { 'content-type': contentType },
      { fileSize: limit, total: limit + formOverhead },
    );
    const file = files.find(({ field }) => field === 'file') ?? files[0];
    if (file === undefined) throw restError(400, 'rest_upload_no_data', 'No data supplied.');
    return { file: checkHash(file, request), params: { ...readFields(fields), ...params } };
  }
  if (body.length === 0) throw restError(400, 'rest_upload_no_data', 'No data supplied.');
  if (contentType === undefined) throw restError(400, 'rest_upload_no_content_type', 'No Content-Type supplied.');
  const disposition = headers['content-disposition'];
  if (disposition === undefined)
    throw restError(400, 'rest_upload_no_content_disposition', 'No Content-Disposition supplied.');
  const name = parseFileName(disposition);
  if (name === null)
    throw restError(
      400,
      'rest_upload_invalid_disposition',
      'Invalid Content-Disposition supplied. Content-Disposition needs to be formatted as `attachment; filename="image.png"` or similar.',
    );
  return { file: checkHash({ bytes: body, name }, request), params };
}

/** Verifies `Content-MD5`, if present, to detect truncated files. */
function checkHash<File extends { readonly bytes: Uint8Array }>(file: File, { headers }: Request): File {
  const wanted = headers['content-md5']?.trim();
  if (wanted === undefined || wanted === '') return file;
  const digest = createHash('md5').update(file.bytes);
  if (wanted !== digest.copy().digest('hex') && wanted !== digest.digest('base64'))
    throw restError(412, 'rest_upload_hash_mismatch', 'Content hash did not match expected.');
  return file;
}

const texts = ['title', 'caption', 'description', 'alt_text', 'slug', 'date', 'date_gmt', 'status'];
const numbers = ['post', 'author'];

function readFields(fields: readonly (readonly [string, string])[]): Params {
  const params: Params = {};
  for (const [name, value] of fields) {
    if (texts.includes(name)) params[name] = value;
    if (numbers.includes(name)) params[name] = /^\d{1,9}$/.test(value) ? Number(value) : -1;
  }
  return params;
}

/** Prefers `filename*` of RFC 5987 to `filename`. */
function parseFileName(disposition: string): string | null {
  const extended = /;\s*filename\*\s*=\s*utf-8''([^;\s]+)/i.exec(disposition)?.[1];
  if (extended !== undefined) {
    try {
      return decodeURIComponent(extended);
    } catch {
      return null;
    }
  }
  const [, quoted, plain] = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))/i.exec(disposition) ?? [];
  // Node decodes headers as Latin-1, but clients send UTF-8.
  const name = quoted?.replace(/\\(.)/g, '$1') ?? plain;
  return name === undefined || name === '' ? null : Buffer.from(name, 'latin1').toString();
}
