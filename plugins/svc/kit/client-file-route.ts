import { RestResponse, type HostApi, type RestRequest } from '#plugin-api';
import type { ClientBundle, ClientFile } from './client-bundle.ts';

/** Seconds: how soon a new version reaches pages whose tag names none. */
const shortly = 300;
const year = 31_536_000;

const types = { script: 'text/javascript; charset=utf-8', styles: 'text/css; charset=utf-8' } as const;

export interface ClientFileRoutes {
  readonly namespace: string;
  /** Of the addresses: `widget` makes `/widget.js` and `/widget.css`. */
  readonly name: string;
  /** For OpenAPI: `the widget`. */
  readonly of: string;
  readonly bundle: () => Promise<ClientBundle>;
}

/**
 * A script and its styles, public, for pages of any site: who may show what is decided where its settings are asked for.
 * With `?v=<hash>` of the content they are kept for a year, otherwise for minutes. Made at the first request.
 */
export function registerClientFiles(
  { rest, log }: Pick<HostApi, 'rest' | 'log'>,
  { namespace, name, of, bundle }: ClientFileRoutes,
): void {
  for (const [kind, ending] of [
    ['script', 'js'],
    ['styles', 'css'],
  ] as const) {
    rest.registerRoute(namespace, `/${name}.${ending}`, {
      security: ['none'],
      showInIndex: false,
      summary: `The ${kind} of ${of}.`,
      args: {
        v: { type: 'string', maxLength: 64, description: 'Hash of the content, so that it may be kept for a year.' },
      },
      allowOrigin: () => true,
      handler: async (request: RestRequest) => {
        const files = await bundle().catch((error: unknown) => {
          log.error(`The files of ${of} could not be bundled: pages that show it get no script.`, { error });
          throw error;
        });
        return answer(request, types[kind], files[kind]);
      },
    });
  }
}

function answer(request: RestRequest, type: string, file: ClientFile): RestResponse {
  // The one of both encodings is as good as the other.
  const tag = `W/"${file.hash}"`;
  const headers = {
    'Content-Type': type,
    ETag: tag,
    'Cache-Control':
      request.params['v'] === file.hash
        ? `public, max-age=${year}, immutable`
        : `public, max-age=${shortly}, stale-while-revalidate=86400`,
    Vary: 'Accept-Encoding',
    'Access-Control-Allow-Origin': '*',
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'X-Content-Type-Options': 'nosniff',
  };
  const known = request.headers['if-none-match'] ?? '';
  if (known === '*' || known.split(',').some((one) => one.trim().replace(/^W\//, '') === tag.slice(2)))
    return new RestResponse({ status: 304, headers, content: '' });
  if (!acceptsGzip(request.headers['accept-encoding'] ?? ''))
    return new RestResponse({ headers, content: file.content });
  return new RestResponse({ headers: { ...headers, 'Content-Encoding': 'gzip' }, content: file.gzipped });
}

function acceptsGzip(header: string): boolean {
  return header.split(',').some((one) => /^\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(one));
}
