import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../sources/files.ts';

/** A hook with types, of the host or of the service. */
export interface ReferencedHook {
  readonly name: string;
  readonly kind: 'filter' | 'action';
  /** Whether its callbacks must not be async. */
  readonly isSynchronous: boolean;
  /** The types of its parameters as they are written; the first is that of a filter's value. */
  readonly types: readonly string[];
}

/** Reads the reference HOOKS.md, which `npm run docs` generates from the types. By name. */
export async function readHookReference(): Promise<ReadonlyMap<string, ReferencedHook>> {
  const text = await readFile(join(root, 'host', 'plugin-api', 'HOOKS.md'), 'utf8');
  const hooks = text.split(/^### /m).flatMap((entry): ReferencedHook[] => {
    const [, name, kind, mode = ''] =
      /^`([^`]+)`\n\n(Filter|Action), since [0-9]+\.[0-9]+\.[0-9]+((?:;[^.]*)?)\./.exec(entry) ?? [];
    if (name === undefined) return [];
    return [
      {
        ...{ name, kind: kind === 'Filter' ? 'filter' : 'action' },
        isSynchronous: mode.includes('synchronous'),
        types: [...entry.matchAll(/^- `\w+\??: (.+)`$/gm)].map(([, type = '']) => type),
      },
    ];
  });
  return new Map(hooks.map((hook) => [hook.name, hook]));
}
