import { RestResponse, type HostApi, type RestRequest } from '#plugin-api';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Plugin } from 'esbuild';

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
        return sendFile(request, types[kind], files[kind]);
      },
    });
  }
}

function sendFile(request: RestRequest, type: string, file: ClientFile): RestResponse {
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

/** A file for browsers as it is sent. */
interface ClientFile {
  readonly content: Buffer;
  readonly gzipped: Buffer;
  /** 16 hex digits of the content's SHA-256: the same on every node. */
  readonly hash: string;
}

interface ClientBundle {
  readonly script: ClientFile;
  readonly styles: ClientFile;
}

interface ClientBundleInit {
  /** Paths of the files that begin the script and the styles. */
  readonly script: string;
  readonly styles: string;
}

/**
 * Script and styles for browsers, made when they are first asked for and kept by the process. Rejects, with what is wrong
 * in which line, when they cannot be made; the next call tries again. The script may import the styles as a text.
 */
export function createClientBundle(init: ClientBundleInit): () => Promise<ClientBundle> {
  let bundle: Promise<ClientBundle> | null = null;
  return () => {
    bundle ??= buildBundle(init).catch((error: unknown) => {
      bundle = null;
      throw error;
    });
    return bundle;
  };
}

async function buildBundle(init: ClientBundleInit): Promise<ClientBundle> {
  const esbuild = await import('esbuild');
  const common = {
    bundle: true,
    minify: true,
    write: false,
    target: 'es2020',
    legalComments: 'none',
    charset: 'utf8',
    logLevel: 'silent',
  } as const;
  try {
    // Prefixes and fallbacks are written out in the styles: what of them is new is a nicety, and old browsers pass it over.
    const [styles] = (await esbuild.build({ ...common, entryPoints: [init.styles], target: 'esnext' })).outputFiles;
    if (!styles) throw new Error('No styles came of the bundle.');
    const [script] = (
      await esbuild.build({
        ...common,
        entryPoints: [init.script],
        format: 'iife',
        platform: 'browser',
        plugins: [stylesAsText(styles.text)],
      })
    ).outputFiles;
    if (!script) throw new Error('No script came of the bundle.');
    return { script: await toClientFile(script.contents), styles: await toClientFile(styles.contents) };
  } finally {
    // Its process is needed no longer.
    await esbuild.stop();
  }
}

/** Lets the script import the minified styles as a text. */
function stylesAsText(styles: string): Plugin {
  return {
    name: 'styles as text',
    setup(build) {
      build.onLoad({ filter: /\.css$/ }, () => ({ contents: styles.trim(), loader: 'text' }));
    },
  };
}

async function toClientFile(contents: Uint8Array): Promise<ClientFile> {
  const content = Buffer.from(contents);
  return {
    content,
    gzipped: await promisify(gzip)(content, { level: 9 }),
    hash: createHash('sha256').update(content).digest('hex').slice(0, 16),
  };
}
