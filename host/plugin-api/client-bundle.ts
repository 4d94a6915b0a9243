import type { Plugin } from 'esbuild';

/** A file for browsers. */
export interface ClientFile {
  readonly content: Buffer;
  readonly gzipped: Buffer;
  /** 16 hex digits of the SHA-256 of the content: the same on every node. */
  readonly hash: string;
}

export interface ClientBundle {
  readonly script: ClientFile;
  readonly styles: ClientFile;
}

export interface ClientBundleInit {
  /** Absolute paths of the entry points, TypeScript or JavaScript and CSS. */
  readonly script: string;
  readonly styles: string;
  /** Change the source of files that match, for packages with unused parts that the build cannot recognize. */
  readonly edits?: readonly { readonly file: RegExp; readonly edit: (source: string) => string }[];
  /** Texts that replace names in the script, read when it is built: the version of another script that it loads. */
  readonly define?: () => Promise<Readonly<Record<string, string>>>;
}

/** Builds that use esbuild's child process at the moment. */
let running = 0;

/**
 * Script and styles for browsers. The first call builds them, the process keeps them. If the build fails, the call rejects with
 * the errors and their lines, and the next call tries again. The script may import the styles as text.
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
  running += 1;
  try {
    // The styles contain prefixes and fallbacks by hand; old browsers ignore the rest.
    const [styles] = (await esbuild.build({ ...common, entryPoints: [init.styles], target: 'esnext' })).outputFiles;
    if (!styles) throw new Error('The bundle contains no styles.');
    const defined = Object.entries((await init.define?.()) ?? {});
    const [script] = (
      await esbuild.build({
        ...common,
        entryPoints: [init.script],
        format: 'iife',
        platform: 'browser',
        define: Object.fromEntries(defined.map(([name, text]) => [name, JSON.stringify(text)])),
        plugins: [stylesAsText(styles.text), editSources(init.edits ?? [])],
      })
    ).outputFiles;
    if (!script) throw new Error('The bundle contains no script.');
    return { script: await toClientFile(script.contents), styles: await toClientFile(styles.contents) };
  } finally {
    running -= 1;
    // Ends its child process, which another build may still use.
    if (running === 0) await esbuild.stop();
  }
}

/** Lets the script import the minified styles as text. */
function stylesAsText(styles: string): Plugin {
  return {
    name: 'styles as text',
    setup(build) {
      build.onLoad({ filter: /\.css$/ }, () => ({ contents: styles.trim(), loader: 'text' }));
    },
  };
}

function editSources(edits: NonNullable<ClientBundleInit['edits']>): Plugin {
  return {
    name: 'edits',
    setup(build) {
      for (const { file, edit } of edits)
        build.onLoad({ filter: file }, async ({ path }) => {
          const { readFile } = await import('node:fs/promises');
          return { contents: edit(await readFile(path, 'utf8')), loader: 'js' };
        });
    },
  };
}

async function toClientFile(contents: Uint8Array): Promise<ClientFile> {
  const [{ createHash }, { promisify }, { gzip }] = await Promise.all([
    import('node:crypto'),
    import('node:util'),
    import('node:zlib'),
  ]);
  const content = Buffer.from(contents);
  return {
    content,
    gzipped: await promisify(gzip)(content, { level: 9 }),
    hash: createHash('sha256').update(content).digest('hex').slice(0, 16),
  };
}
