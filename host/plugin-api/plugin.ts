import type { Migration } from './database.ts';
import type { HostApi } from './host-api.ts';

/** The file `plugin.json`. */
export interface PluginManifest {
  /**
   * Lower-case letters, digits and dashes; the name of the folder. Names that allow no dash (tables, channels, metrics, hooks)
   * begin with the slug with `_` for each `-`.
   */
  readonly slug: string;
  readonly name: string;
  /** Semantic version. */
  readonly version: string;
  readonly description: string;
  /** Entry module relative to the folder; default `index.ts`, else `index.js`. */
  readonly main: string;
  /** Range of host versions, for example `^1`. */
  readonly host: string;
  /** Plugins that must be active first, with version ranges. */
  readonly requires: Readonly<Record<string, string>>;
  /** A public ed25519 key, 32 bytes in base64: only updates that its private key signed are installed over this version. */
  readonly updateKey?: string;
  /** Website of the plugin, an absolute http(s) URL. */
  readonly homepage?: string;
  /** Who wrote it, with an absolute http(s) URL. */
  readonly author?: { readonly name: string; readonly url?: string };
  /** Activate automatically on first start. Only for plugins shipped with the host. */
  readonly autoActivate?: boolean;
}

/** The default export of a plugin's entry module. */
export interface PluginDefinition {
  /** Schema changes, applied before `register` when the plugin is active. */
  readonly migrations?: readonly Migration[];
  /** Runs on each start of an active plugin and only registers. The start waits for it, at most 10 seconds. */
  register(host: HostApi): void | Promise<void>;
  /** Runs once when the plugin becomes active, after its first `register`. At most 60 seconds. */
  activate?(host: HostApi): void | Promise<void>;
  /** Runs once when the plugin is deactivated, before its registrations are undone. At most 10 seconds. */
  deactivate?(host: HostApi): void | Promise<void>;
  /** Deletes the plugin's data. At most 60 seconds. */
  uninstall?(host: HostApi): void | Promise<void>;
  /**
   * Runs once per site when a newer version first starts, after `register`, in one transaction with the migrations: if it
   * fails, the database is unchanged. At most 60 seconds. SQLite foreign keys are not enforced in it; delete dependent rows
   * explicitly. Changes outside the database cannot be rolled back.
   */
  upgrade?(host: HostApi, versions: PluginUpgrade): void | Promise<void>;
  /** Checks the plugin for the admin or the command `doctor`, on the requested node. At most 10 seconds. */
  health?(host: HostApi): readonly HealthResult[] | Promise<readonly HealthResult[]>;
}

/** Versions of an upgrade. The action `upgraded_plugin` gets it after the slug. */
export interface PluginUpgrade {
  readonly from: string;
  readonly to: string;
}

/** One finding, as in WordPress's Site Health. */
export interface HealthResult {
  /** `recommended`: works, but could be improved. `critical`: something does not work; `doctor` fails. */
  readonly status: 'good' | 'recommended' | 'critical';
  /** A short sentence. */
  readonly label: string;
  /** What it means and what to do. */
  readonly description: string;
}

/** Adds types to a plugin's definition and returns it unchanged. */
export function definePlugin(definition: PluginDefinition): PluginDefinition {
  return definition;
}
