import satisfies from 'semver/functions/satisfies.js';
import type { PluginSource } from './manifest.ts';

export interface StartOrder {
  /** Each plugin after those it requires, otherwise in the given order. */
  readonly ordered: readonly PluginSource[];
  /** Reasons by slug of plugins that cannot start. */
  readonly blocked: ReadonlyMap<string, string>;
}

/**
 * Sorts plugins into start order.
 *
 * @param wanted slugs of active plugins.
 * @param installed all valid plugins, to distinguish "not active" from "not installed".
 */
export function orderPlugins(wanted: readonly string[], installed: ReadonlyMap<string, PluginSource>): StartOrder {
  const ordered: PluginSource[] = [];
  const blocked = new Map<string, string>();
  const visiting: string[] = [];
  const done = new Set<string>();

  /** Returns why the requirement is not met, or null. */
  const unmetReason = (slug: string, range: string): string | null => {
    const source = installed.get(slug);
    if (!source) return `It requires '${slug}' ${range}, which is not installed.`;
    const { version } = source.manifest;
    if (!satisfies(version, range, { includePrerelease: true }))
      return `It requires '${slug}' ${range}, but version ${version} is installed.`;
    if (!wanted.includes(slug)) {
      const cycle = findCycle(slug, installed);
      return cycle === null
        ? `It requires '${slug}', which is not active; activate '${slug}' first.`
        : describeCycle(cycle);
    }
    visit(slug);
    return blocked.has(slug) ? `It requires '${slug}', which cannot start: ${blocked.get(slug) ?? ''}` : null;
  };
  const visit = (slug: string): void => {
    const source = installed.get(slug);
    if (!source || done.has(slug) || blocked.has(slug)) return;
    const begin = visiting.indexOf(slug);
    if (begin >= 0) return blockCycle([...visiting.slice(begin), slug]);
    visiting.push(slug);
    for (const [required, range] of Object.entries(source.manifest.requires)) {
      const reason = unmetReason(required, range);
      if (reason !== null && !blocked.has(slug)) blocked.set(slug, reason);
    }
    visiting.pop();
    if (blocked.has(slug)) return;
    done.add(slug);
    ordered.push(source);
  };
  const blockCycle = (cycle: readonly string[]): void => {
    for (const slug of cycle) blocked.set(slug, describeCycle(cycle));
  };

  for (const slug of wanted) visit(slug);
  return { ordered, blocked };
}

function describeCycle(cycle: readonly string[]): string {
  return `Plugins require each other in a cycle: ${cycle.join(' -> ')}. Remove one of these requirements.`;
}

/** The shortest way of requirements from a plugin back to it, or null. */
function findCycle(start: string, installed: ReadonlyMap<string, PluginSource>): readonly string[] | null {
  const ways: (readonly string[])[] = [[start]];
  const seen = new Set<string>();
  for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
    const last = way.at(-1) ?? start;
    for (const next of Object.keys(installed.get(last)?.manifest.requires ?? {})) {
      if (next === start) return [...way, start];
      if (!seen.has(next)) ways.push([...way, next]);
      seen.add(next);
    }
  }
  return null;
}
