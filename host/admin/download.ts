import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { AdminDownload, Logger } from '#plugin-api';

/** Sends a file as fast as the browser takes it. When its making fails, the connection is cut and the log says why. */
export async function sendDownload(
  response: ServerResponse,
  { name, type, content }: AdminDownload,
  log: Logger,
): Promise<void> {
  response.setHeader('Content-Type', type);
  response.setHeader('Content-Disposition', disposition(name));
  response.setHeader('Cache-Control', 'no-store');
  try {
    await pipeline(Readable.from(content, { objectMode: true }), response);
  } catch (error) {
    // The browser's own doing is no failure of ours.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE')
      log.error('A download could not be finished.', { name, error });
    response.destroy();
  }
}

/** RFC 6266: a name that any browser reads, and beside it the real one. */
function disposition(name: string): string {
  const plain = name.replace(/[^\w. -]/g, '_');
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"${plain === name ? '' : `; filename*=UTF-8''${encoded}`}`;
}
