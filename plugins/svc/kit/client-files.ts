import { RestResponse, type ClientBundle, type ClientFile, type HostApi, type RestRequest } from '#plugin-api';

/** Seconds that browsers cache a file without a version in its URL. */
const shortLifetime = 300;
const year = 31_536_000;

const types = { script: 'text/javascript; charset=utf-8', styles: 'text/css; charset=utf-8' } as const;

export interface ClientFileRoutes {
  readonly namespace: string;
  /** Name of the files: `widget` for `/widget.js` and `/widget.css`. */
  readonly name: string;
  /** For OpenAPI: `the widget`. */
  readonly of: string;
  readonly bundle: () => Promise<ClientBundle>;
}

/**
 * Registers a public script and its styles for pages of any site. The request for the settings checks who may embed them.
 * With `?v=<hash>` of the content, browsers cache them for a year, otherwise for minutes: no longer, because a script may load
 * another one that must have the same version. The first request builds them.
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
        v: {
          type: 'string',
          maxLength: 64,
          description: 'Hash of the content. With it, the file is cached for a year.',
        },
      },
      allowOrigin: () => true,
      handler: async (request: RestRequest) => {
        const files = await bundle().catch((error: unknown) => {
          log.error(`Failed to bundle the files of ${of}`, { event: 'client_bundle_failed', error });
          throw error;
        });
        return sendFile(request, types[kind], files[kind]);
      },
    });
  }
}

function sendFile(request: RestRequest, type: string, file: ClientFile): RestResponse {
  // A weak tag, because both encodings share it.
  const tag = `W/"${file.hash}"`;
  const headers = {
    'Content-Type': type,
    ETag: tag,
    'Cache-Control':
      request.params['v'] === file.hash
        ? `public, max-age=${year}, immutable`
        : `public, max-age=${shortLifetime}, must-revalidate`,
    Vary: 'Accept-Encoding',
    'Access-Control-Allow-Origin': '*',
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'X-Content-Type-Options': 'nosniff',
  };
  const cached = request.headers['if-none-match'] ?? '';
  if (cached === '*' || cached.split(',').some((one) => one.trim().replace(/^W\//, '') === tag.slice(2)))
    return new RestResponse({ status: 304, headers, content: '' });
  if (!acceptsGzip(request.headers['accept-encoding'] ?? ''))
    return new RestResponse({ headers, content: file.content });
  return new RestResponse({ headers: { ...headers, 'Content-Encoding': 'gzip' }, content: file.gzipped });
}

function acceptsGzip(header: string): boolean {
  return header.split(',').some((one) => /^\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(one));
}
