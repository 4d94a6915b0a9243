import type { AbilitiesApi } from './abilities.ts';
import type { AdminApi } from './admin.ts';
import type { AssetsApi } from './assets.ts';
import type { CliApi } from './cli.ts';
import type { Clock } from './clock.ts';
import type { ContentApi } from './content.ts';
import type { CronApi } from './cron.ts';
import type { DatabaseApi } from './database.ts';
import type { DocumentError, DocumentsApi } from './documents.ts';
import type { RestError, defineErrors } from './errors.ts';
import type { HooksApi } from './hooks.ts';
import type { HttpApi } from './http.ts';
import type { JobLostError, JobsApi } from './jobs.ts';
import type { Logger } from './log.ts';
import type { MailApi } from './mail.ts';
import type { MetricsApi, TracesApi } from './metrics.ts';
import type { NamespacedHooks } from './namespaced-hooks.ts';
import type { OptionsApi } from './options.ts';
import type { PluginManifest } from './plugin.ts';
import type { RestApi, RestResponse } from './rest.ts';
import type { SecretsApi } from './secrets.ts';
import type { ServicesApi } from './services.ts';
import type { PublicPagesApi, SiteApi } from './site.ts';
import type { TranslationsApi } from './translations.ts';
import type { UsersApi } from './users.ts';
import type { ViewsApi } from './views.ts';

/**
 * A plugin's own view of the host. Everything it registers is recorded under its name and undone when it is deactivated.
 * Invalid registrations throw an Error that explains the problem.
 */
export interface HostApi {
  readonly plugin: PluginManifest & { /** Absolute path of the plugin's folder. */ readonly directory: string };
  readonly site: SiteApi & PublicPagesApi;
  readonly hooks: HooksApi;
  readonly options: OptionsApi;
  readonly secrets: SecretsApi;
  readonly rest: RestApi;
  readonly cron: CronApi;
  readonly jobs: JobsApi;
  readonly abilities: AbilitiesApi;
  readonly admin: AdminApi;
  readonly cli: CliApi;
  readonly database: DatabaseApi;
  readonly users: UsersApi;
  readonly content: ContentApi;
  readonly views: ViewsApi;
  readonly assets: AssetsApi;
  /** The plugin's texts in the language of the site. */
  readonly i18n: TranslationsApi;
  readonly log: Logger;
  readonly clock: Clock;
  readonly http: HttpApi;
  readonly mail: MailApi;
  readonly metrics: MetricsApi;
  readonly traces: TracesApi;
  readonly documents: DocumentsApi;
  /** What plugins provide for each other. */
  readonly services: ServicesApi;
  /** The classes of this module, for plugins that cannot import `#plugin-api`, and namespaced hooks. */
  readonly api: {
    readonly RestError: typeof RestError;
    readonly RestResponse: typeof RestResponse;
    readonly DocumentError: typeof DocumentError;
    readonly JobLostError: typeof JobLostError;
    readonly defineErrors: typeof defineErrors;
    /** The hooks under the signatures of @wordpress/hooks. Call it once and reuse the result: each result has its own namespaces. */
    withNamespaces(hooks: HooksApi): NamespacedHooks;
  };
  /** Runs when the host stops or the plugin is deactivated, in reverse order, before its registrations are undone. */
  onStop(callback: () => void | Promise<void>): void;
}
