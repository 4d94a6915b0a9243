import { errorText, type Undo } from '#plugin-api';
import { readHookReference, type ReferencedHook } from '../../authoring/hook-reference.ts';
import type { TestHost } from '../test-host.ts';
import type { Subject } from './subject.ts';

/** The latest arguments of each filter that ran, by name. */
export type RecordedRuns = ReadonlyMap<string, readonly unknown[]>;

/** Records what hooks run with, so that filters can be called again with real values. */
export function recordRuns({ hooks }: Pick<TestHost, 'hooks'>): { readonly runs: RecordedRuns; readonly undo: Undo } {
  const runs = new Map<string, readonly unknown[]>();
  const undo = hooks.addAction('all', (name: string, ...args: unknown[]) => void runs.set(name, args));
  return { runs, undo };
}

const paths = [
  '/',
  '/?s=hello',
  '/wp-json/',
  '/wp-json/wp/v2/posts',
  '/admin',
  '/admin/plugins',
  '/admin/settings',
  '/admin/posts',
  '/admin/users',
  '/admin/tools/site-health?results=1',
];

/**
 * Opens pages of the host, then calls each filter that the plugin has a callback for: with the values of its latest run, or with
 * ones made from its types. A result that is none (`undefined`, or a promise where nothing awaits it) is logged, and so fails
 * the point; one of another type than the value fails it here.
 */
export async function tryFilters({ host, source: { manifest }, runs }: Subject): Promise<string | undefined> {
  const own = host.hooks
    .describe()
    .filter(({ callbacks }) => callbacks.some(({ owner, kind }) => owner === manifest.slug && kind === 'filter'));
  if (own.length === 0) return 'The plugin has no filters.';
  const { cookie } = await host.signIn();
  const post = await host.content.posts.create({ title: 'Hello', status: 'publish', content: '<p>Hello</p>' });
  for (const path of [...paths, await host.content.permalink(post)]) {
    const { status } = await host.fetch(path, { headers: { cookie } });
    if (status >= 500) throw new Error(`With the filters of the plugin, ${path} responded with ${status}.`);
  }
  const reference = await readHookReference();
  for (const { name } of own) await tryFilter(host, name, { hook: reference.get(name), recorded: runs.get(name) });
  return undefined;
}

async function tryFilter(
  { hooks }: TestHost,
  name: string,
  given: { readonly hook: ReferencedHook | undefined; readonly recorded: readonly unknown[] | undefined },
): Promise<void> {
  const { hook, recorded } = given;
  const args = recorded ?? hook?.types.map(sampleOf);
  if (args === undefined) return;
  const [value, ...others] = args;
  let result: unknown;
  try {
    result =
      hook?.isSynchronous === true
        ? hooks.applyFilters(name, value, ...others)
        : await hooks.applyFiltersAsync(name, value, ...others);
  } catch (error) {
    // Samples are not what the host passes.
    if (recorded === undefined) return;
    throw new Error(`The filter '${name}' failed: ${errorText(error)}`, { cause: error });
  }
  const [expected, found] = [kindOfType(hook?.types[0] ?? ''), kindOf(result)];
  if (expected !== null && expected !== found)
    throw new Error(`The filter '${name}' returned ${found} instead of ${expected}. Return the value, changed or not.`);
}

type Kind = 'a string' | 'a number' | 'a boolean' | 'an array' | 'an object' | 'null' | 'something else';

/** The only kind of value that a type of the reference accepts; null if there are several, or if it is unknown. */
function kindOfType(type: string): Kind | null {
  if (type === 'string') return 'a string';
  if (type === 'number') return 'a number';
  if (type === 'boolean') return 'a boolean';
  if (/^readonly [\w.]+\[\]$/.test(type)) return 'an array';
  return /^Readonly<Record<[^|]*>>$/.test(type) ? 'an object' : null;
}

function kindOf(value: unknown): Kind {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  const kinds: Readonly<Record<string, Kind>> = {
    ...{ string: 'a string', number: 'a number', boolean: 'a boolean', object: 'an object' },
  };
  return kinds[typeof value] ?? 'something else';
}

function sampleOf(type: string): unknown {
  const kind = kindOfType(type);
  if (kind === 'a string') return 'text';
  if (kind === 'a number') return 1;
  if (kind === 'a boolean') return true;
  if (kind === 'an array') return [];
  return type.includes('null') ? null : {};
}
