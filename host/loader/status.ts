import type { Discovery } from './discover.ts';
import type { RunningPlugin } from './lifecycle.ts';
import { describeHidden } from './manifest.ts';
import { stopStages } from './quarantine.ts';
import type { PluginFailure } from './stored-state.ts';

/** The status of a plugin for the admin and the command line. */
export interface PluginStatus {
  readonly slug: string;
  readonly name: string;
  readonly version: string;
  readonly description: string;
  /** Entry module relative to the folder; empty if it is not known. */
  readonly main: string;
  /** Range of host versions. */
  readonly host: string;
  /** Empty if the manifest has none. */
  readonly homepage: string;
  readonly author: { readonly name: string; readonly url?: string } | null;
  /** `failed`: it should run but does not, or its last activation failed. `failure` contains the reason. */
  readonly state: 'active' | 'inactive' | 'failed';
  readonly failure: PluginFailure | null;
  /** Whether the site wants it to run: it is in `active_plugins`, or must-use. */
  readonly isActive: boolean;
  /** The last error of a running plugin, for example in an action or a route. */
  readonly lastError: PluginFailure | null;
  /** What a running plugin registered that is open, unreachable or without effect. One sentence each. */
  readonly warnings: readonly string[];
  readonly requires: Readonly<Record<string, string>>;
  readonly autoActivate: boolean;
  /** Shipped with the host: uninstalling deletes its data but not its folder. */
  readonly shipped: boolean;
  /** Always active: it cannot be deactivated or uninstalled. */
  readonly mustUse: boolean;
  /** Absolute path; null if the folder is missing or its manifest is invalid. */
  readonly directory: string | null;
}

/** Of an active plugin without a folder. */
export const missingReason = 'It is active, but its folder is missing; restore the folder or deactivate the plugin.';

export const leftOutReason =
  'This start leaves it out: by the environment variable PLUGINS, or because it ended the starts before. Restart without PLUGINS.';

/** The reason why a plugin was not started. */
export interface Blocked {
  /** `requires`, `version`, `left out`, `crash`, `database`, `start`, or the stage in which its start failed. */
  readonly stage: string;
  readonly message: string;
}

export interface LoaderState {
  readonly discovery: Discovery;
  readonly running: ReadonlyMap<string, RunningPlugin>;
  /** Slugs of must-use plugins and of the option `active_plugins`. */
  readonly wanted: readonly string[];
  /** Reasons why active plugins are not running. */
  readonly blocked: ReadonlyMap<string, Blocked>;
  /** Time of the last check in milliseconds since the epoch. */
  readonly checkedAt: number;
  /** Whether this process serves the site, or is one for a command. */
  readonly isSite: boolean;
  readonly failureOf: (slug: string) => PluginFailure | null;
  readonly warningsOf: (slug: string) => readonly string[];
}

/** Lists installed and active plugins, sorted by slug. */
export function listPlugins(state: LoaderState): PluginStatus[] {
  const { discovery, running, wanted } = state;
  const slugs = new Set([...discovery.plugins.keys(), ...discovery.broken.keys(), ...running.keys(), ...wanted]);
  return [...slugs].sort().map((slug) => toStatus(slug, state));
}

function toStatus(
  slug: string,
  { discovery, running, wanted, blocked, checkedAt, isSite, failureOf, warningsOf }: LoaderState,
): PluginStatus {
  const source = running.get(slug)?.source ?? discovery.plugins.get(slug);
  const base = {
    slug,
    isActive: wanted.includes(slug),
    name: source?.manifest.name ?? slug,
    version: source?.manifest.version ?? '',
    description: source?.manifest.description ?? '',
    main: source?.manifest.main ?? '',
    host: source?.manifest.host ?? '',
    homepage: source?.manifest.homepage ?? '',
    author: source?.manifest.author ?? null,
    requires: source?.manifest.requires ?? {},
    autoActivate: source?.manifest.autoActivate ?? false,
    shipped: source?.shipped ?? false,
    mustUse: source?.mustUse ?? false,
    directory: source?.directory ?? null,
    warnings: running.has(slug) ? warningsOf(slug) : describeHidden(source),
  };
  const stopped = isSite ? null : failureOf(slug);
  if (running.has(slug) && stopped !== null && !stopped.byCommand && stopStages.includes(stopped.stage))
    return { ...base, state: 'failed', failure: stopped, lastError: null };
  if (running.has(slug)) return { ...base, state: 'active', failure: null, lastError: failureOf(slug) };
  const failed = (stage: string, message: string): PluginStatus => ({
    ...base,
    state: 'failed',
    failure: { stage, message, at: checkedAt },
    lastError: null,
  });
  const brokenReason = discovery.broken.get(slug);
  if (brokenReason !== undefined) return failed('manifest', brokenReason);
  const reason = blocked.get(slug);
  if (wanted.includes(slug) && reason !== undefined) return failed(reason.stage, reason.message);
  const failure = failureOf(slug);
  return { ...base, state: failure ? 'failed' : 'inactive', failure, lastError: null };
}
