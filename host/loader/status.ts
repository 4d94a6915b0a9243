import type { Discovery } from './discover.ts';
import type { RunningPlugin } from './lifecycle.ts';
import type { PluginFailure } from './stored-state.ts';

/** A plugin as the admin and the command line show it. */
export interface PluginStatus {
  readonly slug: string;
  readonly name: string;
  readonly version: string;
  readonly description: string;
  /** `failed`: it is not running although it should be, or its last activation failed; `failure` says why. */
  readonly state: 'active' | 'inactive' | 'failed';
  readonly failure: PluginFailure | null;
  /** The last error of a running plugin in an action, a route, ... It runs on. */
  readonly lastError: PluginFailure | null;
  readonly requires: Readonly<Record<string, string>>;
  readonly autoActivate: boolean;
  /** Comes with the host: uninstalling removes its data and leaves its folder. */
  readonly shipped: boolean;
  /** Always active: it can neither be activated, deactivated nor uninstalled. */
  readonly mustUse: boolean;
  /** Absolute; null when the folder is missing or its manifest cannot be used. */
  readonly directory: string | null;
}

/** Why a plugin was not started, and at which stage that was found. */
export interface Blocked {
  readonly stage: 'requires' | 'version' | 'start';
  readonly message: string;
}

/** What the loader knows when it is asked. */
export interface LoaderState {
  readonly discovery: Discovery;
  readonly running: ReadonlyMap<string, RunningPlugin>;
  /** Slugs of those that must be used and of the option `active_plugins`. */
  readonly wanted: readonly string[];
  /** Why a wanted plugin is not running. */
  readonly blocked: ReadonlyMap<string, Blocked>;
  /** When that was found out, in milliseconds since the epoch. */
  readonly checkedAt: number;
  readonly failureOf: (slug: string) => PluginFailure | null;
}

/** Every plugin that is installed, or should be, sorted by slug. */
export function listPlugins(state: LoaderState): PluginStatus[] {
  const { discovery, running, wanted } = state;
  const slugs = new Set([...discovery.plugins.keys(), ...discovery.broken.keys(), ...running.keys(), ...wanted]);
  return [...slugs].sort().map((slug) => statusOf(slug, state));
}

function statusOf(
  slug: string,
  { discovery, running, wanted, blocked, checkedAt, failureOf }: LoaderState,
): PluginStatus {
  const source = running.get(slug)?.source ?? discovery.plugins.get(slug);
  const about = {
    slug,
    name: source?.manifest.name ?? slug,
    version: source?.manifest.version ?? '',
    description: source?.manifest.description ?? '',
    requires: source?.manifest.requires ?? {},
    autoActivate: source?.manifest.autoActivate ?? false,
    shipped: source?.shipped ?? false,
    mustUse: source?.mustUse ?? false,
    directory: source?.directory ?? null,
  };
  if (running.has(slug)) return { ...about, state: 'active', failure: null, lastError: failureOf(slug) };
  const failed = (stage: string, message: string): PluginStatus => ({
    ...about,
    state: 'failed',
    failure: { stage, message, at: checkedAt },
    lastError: null,
  });
  const fault = discovery.broken.get(slug);
  if (fault !== undefined) return failed('manifest', fault);
  if (!source)
    return failed('discover', 'It is active, but its folder is missing; put the folder back or deactivate the plugin.');
  const reason = blocked.get(slug);
  if (wanted.includes(slug) && reason !== undefined) return failed(reason.stage, reason.message);
  const failure = failureOf(slug);
  return { ...about, state: failure ? 'failed' : 'inactive', failure, lastError: null };
}
