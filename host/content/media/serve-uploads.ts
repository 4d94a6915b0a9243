import type { IncomingMessage, ServerResponse } from 'node:http';
import type { User } from '#plugin-api';
import { canShowInline, mimeTypeForName } from './file-types.ts';
import type { MediaLibrary } from './media.ts';
import { isPublicPath, type UploadStore } from './upload-store.ts';

export type PlainHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

const prefix = '/uploads/';

/**
 * Serves `/uploads/YYYY/MM/name` with range support. The extension alone decides the content type, without sniffing. Types
 * that a browser could execute are downloaded and sandboxed.
 */
export function createUploadsHandler(uploads: Pick<UploadStore, 'respond'>): PlainHandler {
  return (request, response, next) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    if (!path.startsWith(prefix) || (request.method !== 'GET' && request.method !== 'HEAD')) return next();
    const file = decode(path.slice(prefix.length));
    if (file === null || !isPublicPath(file)) return next();
    // Other sites can embed public files, as with WordPress. Not `immutable`: a name can be reused after its file is deleted.
    send({ request, response, file, uploads, next, cache: 'public, max-age=86400', embeddedBy: 'cross-origin' }).catch(
      next,
    );
  };
}

export interface PrivateUploadsDependencies {
  readonly uploads: Pick<UploadStore, 'respond'>;
  readonly media: Pick<MediaLibrary, 'get'>;
  /** The user of the request's cookie, or null. */
  readonly authenticate: (request: IncomingMessage) => Promise<{ readonly user: User } | null>;
  readonly anonymous: User;
}

/**
 * Serves `/uploads/private/<id>/<name>` to users who may read the entry of the media library. For others the file does not
 * exist. Browsers ask again before each use.
 */
export function createPrivateUploadsHandler(given: PrivateUploadsDependencies): PlainHandler {
  return (request, response, next) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const [, id = '', name = ''] = /^\/uploads\/private\/(\d{1,9})\/([\w.-]{1,200})$/.exec(path) ?? [];
    if (id === '' || (request.method !== 'GET' && request.method !== 'HEAD')) return next();
    findPrivateFile(given, request, { id: Number(id), name })
      .then((file) =>
        file === null
          ? next()
          : send({
              request,
              response,
              file,
              uploads: given.uploads,
              next,
              cache: 'private, no-cache',
              embeddedBy: 'same-origin',
            }),
      )
      .catch(next);
  };
}

async function findPrivateFile(
  { media, authenticate, anonymous }: PrivateUploadsDependencies,
  request: IncomingMessage,
  { id, name }: { readonly id: number; readonly name: string },
): Promise<string | null> {
  const found = await media.get(id);
  if (found === null || found.file.split('/').at(-1) !== name) return null;
  const user = request.headers.cookie === undefined ? null : await authenticate(request);
  return (user?.user ?? anonymous).can('read_post', found.post) ? found.file : null;
}

interface Sending {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly file: string;
  readonly uploads: Pick<UploadStore, 'respond'>;
  readonly next: (error?: unknown) => void;
  /** `Cache-Control`. */
  readonly cache: string;
  readonly embeddedBy: 'cross-origin' | 'same-origin';
}

async function send({ request, response, file, uploads, next, cache, embeddedBy }: Sending): Promise<void> {
  const type = mimeTypeForName(file);
  const setHeaders = (): void => {
    response.setHeader('Content-Type', /^text\/|json$/.test(type) ? `${type}; charset=utf-8` : type);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Cache-Control', cache);
    response.setHeader('Cross-Origin-Resource-Policy', embeddedBy);
    if (canShowInline(type)) return;
    response.setHeader('Content-Disposition', 'attachment');
    response.setHeader('Content-Security-Policy', "default-src 'none'; sandbox");
  };
  if (!(await uploads.respond(file, { request, response, setHeaders }))) next();
}

function decode(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}
