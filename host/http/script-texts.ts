import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** `__('Copy')`: a call keeps its name when a bundle is minified, because `__` is global. */
const call = /\b__\(\s*(["'`])((?:\\.|(?!\1)[^\\])*)\1/g;

/** The texts that a script shows. */
export function textsIn(script: string): string[] {
  return [...script.matchAll(call)].map(([, , text = '']) => text.replace(/\\(.)/g, '$1'));
}

interface Script {
  readonly hash: string;
  readonly texts: readonly string[];
  /** Absolute paths of the scripts that it imports. */
  readonly imports: readonly string[];
}

/**
 * Finds the texts of a script and of those that it imports. Files are read again when they change.
 *
 * @param contentHash null for a file that does not exist.
 */
export function createScriptTexts(contentHash: (path: string) => string | null): (path: string) => readonly string[] {
  const scripts = new Map<string, Script>();
  const read = (path: string): Script | null => {
    const hash = contentHash(path);
    const known = scripts.get(path);
    if (hash === null || known?.hash === hash) return known ?? null;
    const source = readFileSync(path, 'utf8');
    const imports = [...source.matchAll(/ from '(\.\/[\w.-]+)'/g)].map(([, file = '']) => join(dirname(path), file));
    const script = { hash, imports, texts: textsIn(source) };
    scripts.set(path, script);
    return script;
  };
  return (path) => {
    const paths = new Set([path]);
    const texts = new Set<string>();
    for (const one of paths) {
      const script = read(one);
      for (const text of script?.texts ?? []) texts.add(text);
      for (const imported of script?.imports ?? []) paths.add(imported);
    }
    return [...texts];
  };
}
