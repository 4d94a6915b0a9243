import type { IncomingMessage, ServerResponse } from 'node:http';
import { canShowInline, mimeTypeForName } from './file-types.ts';
import { isUploadPath, type UploadFolder } from './upload-folder.ts';

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
export function createUploadsHandler(folder: Pick<UploadFolder, 'root'>): PlainHandler {
  return (request, response, next) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    if (!path.startsWith(prefix) || (request.method !== 'GET' && request.method !== 'HEAD')) return next();
    const file = decode(path.slice(prefix.length));
    if (file === null || !isUploadPath(file)) return next();
    send({ request, response, file, folder, next }).catch(next);
  };
}

interface Sending {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly file: string;
  readonly folder: Pick<UploadFolder, 'root'>;
  readonly next: (error?: unknown) => void;
}

async function send({ request, response, file, folder, next }: Sending): Promise<void> {
  const { default: sendFile } = await import('send');
  const type = mimeTypeForName(file);
  // Not `immutable`: a name can be reused after its file is deleted.
  const stream = sendFile(request, encodeURI(file).replaceAll('?', '%3F').replaceAll('#', '%23'), {
    root: await folder.root(),
    index: false,
    dotfiles: 'ignore',
    maxAge: '1d',
  });
  stream.on('headers', () => {
    response.setHeader('Content-Type', /^text\/|json$/.test(type) ? `${type}; charset=utf-8` : type);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    // Other sites can embed public files, as with WordPress.
    response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    if (canShowInline(type)) return;
    response.setHeader('Content-Disposition', 'attachment');
    response.setHeader('Content-Security-Policy', "default-src 'none'; sandbox");
  });
  stream.on('error', (error: Error & { status?: number }) =>
    error.status === 404 || error.status === 403 ? next() : next(error),
  );
  stream.on('directory', () => next());
  stream.pipe(response);
}

function decode(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}
