import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Plugin } from 'esbuild';

/** A file of the widget as it is sent. */
export interface WidgetFile {
  readonly content: Buffer;
  readonly gzipped: Buffer;
  /** 16 hex digits of the content's SHA-256: the same on every node. */
  readonly hash: string;
}

export interface WidgetBundle {
  readonly script: WidgetFile;
  readonly styles: WidgetFile;
}

let bundle: Promise<WidgetBundle> | null = null;

/**
 * Script and styles of the widget, made of `client/` when they are first asked for and kept by the process. Rejects, with
 * what is wrong in which line, when they cannot be made; the next call tries again.
 */
export function widgetBundle(): Promise<WidgetBundle> {
  bundle ??= makeBundle().catch((error: unknown) => {
    bundle = null;
    throw error;
  });
  return bundle;
}

async function makeBundle(): Promise<WidgetBundle> {
  const esbuild = await import('esbuild');
  const source = (file: string): string => fileURLToPath(new URL(`./client/${file}`, import.meta.url));
  const common = { bundle: true, minify: true, write: false, target: 'es2020', legalComments: 'none', charset: 'utf8', logLevel: 'silent' } as const;
  try {
    // Prefixes and fallbacks are written out in the styles: what of them is new is a nicety, and old browsers pass it over.
    const [styles] = (await esbuild.build({ ...common, entryPoints: [source('widget.css')], target: 'esnext' })).outputFiles;
    if (!styles) throw new Error('No styles came of the bundle.');
    const [script] = (await esbuild.build({ ...common, entryPoints: [source('main.ts')], format: 'iife', platform: 'browser', plugins: [textOf(styles.text)] })).outputFiles;
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

async function fileOf(contents: Uint8Array): Promise<WidgetFile> {
  const content = Buffer.from(contents);
  return { content, gzipped: await promisify(gzip)(content, { level: 9 }), hash: createHash('sha256').update(content).digest('hex').slice(0, 16) };
}
