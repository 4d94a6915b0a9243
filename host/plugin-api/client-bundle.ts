import { dirname, join, parse } from 'node:path';

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
  /** Absolute paths of the entry points, TypeScript or JavaScript and CSS. The script may import the styles as text. */
  readonly script: string;
  readonly styles: string;
  /** Change the source of files that match, for packages with unused parts that the build cannot recognize. */
  readonly edits?: readonly { readonly file: RegExp; readonly edit: (source: string) => string }[];
  /** Names in the script that stand for the hashes of other scripts, which it loads. */
  readonly versions?: Readonly<Record<string, ClientBundleReader>>;
}

/** Reads the built files once per process. Rejects while they are missing. */
export interface ClientBundleReader {
  (): Promise<ClientBundle>;
  /** What `npm run build` builds them from. */
  readonly init: ClientBundleInit;
}

/**
 * Script and styles for browsers, which `npm run build` builds from a module `browser/bundle.ts` that exports what this returns: in
 * the folder `built` beside the script (D36).
 */
export function createClientBundle(init: ClientBundleInit): ClientBundleReader {
  let bundle: Promise<ClientBundle> | null = null;
  const read = (): Promise<ClientBundle> => {
    bundle ??= readBundle(init).catch((error: unknown) => {
      bundle = null;
      throw error;
    });
    return bundle;
  };
  return Object.assign(read, { init });
}

/** Absolute paths of the built files. */
export function builtFiles({ script }: Pick<ClientBundleInit, 'script'>): Record<keyof ClientBundle, string> {
  const file = join(dirname(script), 'built', parse(script).name);
  return { script: `${file}.js`, styles: `${file}.css` };
}

async function readBundle(init: ClientBundleInit): Promise<ClientBundle> {
  const { readFile } = await import('node:fs/promises');
  const { script, styles } = builtFiles(init);
  const read = async (path: string): Promise<ClientFile> =>
    toClientFile(
      await readFile(path).catch((cause: unknown) => {
        throw new Error(`${path} cannot be read. Run "npm run build".`, { cause });
      }),
    );
  return { script: await read(script), styles: await read(styles) };
}

async function toClientFile(content: Buffer): Promise<ClientFile> {
  const [{ createHash }, { promisify }, { gzip }] = await Promise.all([
    import('node:crypto'),
    import('node:util'),
    import('node:zlib'),
  ]);
  return {
    content,
    gzipped: await promisify(gzip)(content, { level: 9 }),
    hash: createHash('sha256').update(content).digest('hex').slice(0, 16),
  };
}
