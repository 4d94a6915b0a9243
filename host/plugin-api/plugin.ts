import type { Migration } from './database.ts';
import type { HostApi } from './host-api.ts';

/** The file `plugin.json`. */
export interface PluginManifest {
  /** Lower-case letters, digits and dashes; the name of the folder. */
  readonly slug: string;
  readonly name: string;
  /** Semantic version. */
  readonly version: string;
  readonly description: string;
  /** Entry module relative to the folder; default `index.ts`, else `index.js`. */
  readonly main: string;
  /** Range of host versions, for example `^1`. */
  readonly host: string;
  /** Plugins that must be active first, with ranges of their versions. */
  readonly requires: Readonly<Record<string, string>>;
  /** Active from its first start on, without anyone's click. Only for plugins that ship with the host. */
  readonly autoActivate?: boolean;
}

/** The default export of a plugin's entry module. */
export interface PluginDefinition {
  /** Tables, run before `register` when the plugin is active. */
  readonly migrations?: readonly Migration[];
  /** Runs on each start of an active plugin; only declares. Must not take long: start waits for it. */
  register(host: HostApi): void | Promise<void>;
  /** Runs once when the plugin becomes active, after its first `register`. */
  activate?(host: HostApi): void | Promise<void>;
  /** Runs once when it is switched off, before its registrations are undone. */
  deactivate?(host: HostApi): void | Promise<void>;
  /** Removes its data. */
  uninstall?(host: HostApi): void | Promise<void>;
  /**
   * Runs once for the site when a newer version starts than ran before, after `register`, in one transaction with the
   * migrations: when it fails the database is as before. At most 60 seconds. Foreign keys of SQLite are not enforced in
   * it; remove dependent rows yourself. What it does outside of the database cannot be taken back.
   */
  upgrade?(host: HostApi, versions: PluginUpgrade): void | Promise<void>;
  /** Looks after itself when an administrator or `doctor` asks, on the node that was asked. At most 10 seconds. */
  health?(host: HostApi): readonly HealthResult[] | Promise<readonly HealthResult[]>;
}

/** From which version to which. Also what the action `upgraded_plugin` gets after the slug. */
export interface PluginUpgrade {
  readonly from: string;
  readonly to: string;
}

/** One finding, as in WordPress's Site Health. */
export interface HealthResult {
  /** `recommended`: it works, and could be better. `critical`: something does not work; `doctor` fails. */
  readonly status: 'good' | 'recommended' | 'critical';
  /** A short sentence. */
  readonly label: string;
  /** What it means and what to do. */
  readonly description: string;
}

/** Gives a plugin's definition its types; answers it unchanged. */
export function definePlugin(definition: PluginDefinition): PluginDefinition {
  return definition;
}
