import { RestResponse, type HostApi, type RestRequest } from '#plugin-api';
import type { WidgetBundle, WidgetFile } from '../browser/bundle.ts';
import { widgetNamespace } from './protocol.ts';

/** Seconds: how soon a new version reaches pages whose script tag names none. */
const shortly = 300;
const year = 31_536_000;

interface Kind {
  readonly name: 'script' | 'styles';
  readonly route: string;
  readonly type: string;
}

const kinds: readonly Kind[] = [
  { name: 'script', route: '/widget.js', type: 'text/javascript; charset=utf-8' },
  { name: 'styles', route: '/widget.css', type: 'text/css; charset=utf-8' },
];

/**
 * `GET /widget.js` and `GET /widget.css`, public, for pages of any site: who may show a bot is decided where its settings are
 * asked for. With `?v=<hash>` of the content they are kept for a year, otherwise for minutes. Made at the first request.
 */
export function registerScriptRoutes({ host }: { readonly host: Pick<HostApi, 'rest' | 'log'> }): void {
  for (const kind of kinds) {
    host.rest.registerRoute(widgetNamespace, kind.route, {
      security: ['none'],
      showInIndex: false,
      summary: kind.name === 'script' ? 'The script of the widget.' : 'The styles of the widget.',
      args: { v: { type: 'string', maxLength: 64, description: 'Hash of the content, so that it may be kept for a year.' } },
      allowOrigin: () => true,
      handler: async (request: RestRequest) => answer(request, kind, (await bundle(host))[kind.name]),
    });
  }
}

async function bundle({ log }: Pick<HostApi, 'log'>): Promise<WidgetBundle> {
  const { widgetBundle } = await import('../browser/bundle.ts');
  try {
    return await widgetBundle();
  } catch (error) {
    log.error('The widget of chatbots could not be bundled: pages that embed one get no script.', { error });
    throw error;
  }
}

function answer(request: RestRequest, { type }: Kind, file: WidgetFile): RestResponse {
  // The one of both encodings is as good as the other.
  const tag = `W/"${file.hash}"`;
  const headers = {
    'Content-Type': type,
    ETag: tag,
    'Cache-Control': request.params['v'] === file.hash ? `public, max-age=${year}, immutable` : `public, max-age=${shortly}, stale-while-revalidate=86400`,
    Vary: 'Accept-Encoding',
    'Access-Control-Allow-Origin': '*',
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'X-Content-Type-Options': 'nosniff',
  };
  const known = request.headers['if-none-match'] ?? '';
  if (known === '*' || known.split(',').some((one) => one.trim().replace(/^W\//, '') === tag.slice(2))) return new RestResponse({ status: 304, headers, content: '' });
  if (!acceptsGzip(request.headers['accept-encoding'] ?? '')) return new RestResponse({ headers, content: file.content });
  return new RestResponse({ headers: { ...headers, 'Content-Encoding': 'gzip' }, content: file.gzipped });
}

function acceptsGzip(header: string): boolean {
  return header.split(',').some((one) => /^\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(one));
}
