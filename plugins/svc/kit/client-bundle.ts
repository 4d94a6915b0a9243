import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Plugin } from 'esbuild';

/** A file for browsers as it is sent. */
export interface ClientFile {
  readonly content: Buffer;
  readonly gzipped: Buffer;
  /** 16 hex digits of the content's SHA-256: the same on every node. */
  readonly hash: string;
}

export interface ClientBundle {
  readonly script: ClientFile;
  readonly styles: ClientFile;
}

export interface ClientBundleInit {
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
    bundle ??= makeBundle(init).catch((error: unknown) => {
      bundle = null;
      throw error;
    });
    return bundle;
  };
}

async function makeBundle(init: ClientBundleInit): Promise<ClientBundle> {
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
        plugins: [textOf(styles.text)],
      })
    ).outputFiles;
    if (!script) throw new Error('No script came of the bundle.');
    return { script: await fileOf(script.contents), styles: await fileOf(styles.contents) };
  } finally {
    // Its process is needed no longer.
    await esbuild.stop();
  }
}

/** Lets the script import the minified styles as a text. */
function textOf(styles: string): Plugin {
  return {
    name: 'styles as text',
    setup(build) {
      build.onLoad({ filter: /\.css$/ }, () => ({ contents: styles.trim(), loader: 'text' }));
    },
  };
}

async function fileOf(contents: Uint8Array): Promise<ClientFile> {
  const content = Buffer.from(contents);
  return {
    content,
    gzipped: await promisify(gzip)(content, { level: 9 }),
    hash: createHash('sha256').update(content).digest('hex').slice(0, 16),
  };
}
