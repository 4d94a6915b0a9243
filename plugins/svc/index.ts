import { definePlugin, type HostApi } from '#plugin-api';
import { createServices, type ServiceContext } from './wiring.ts';
import { collectMigrations, type Module } from './kit/module.ts';
import { exposedHeaders } from './kit/response-headers.ts';
import { visitorHeaders } from './kit/visitors/page-sessions.ts';
import { aiFormsModule } from './modules/ai-forms/module.ts';
import { anthropicModule } from './modules/anthropic/module.ts';
import { automationsModule } from './modules/automations/module.ts';
import { checkUnpriced } from './modules/budgets/check-unpriced.ts';
import { budgetsModule } from './modules/budgets/module.ts';
import { checkLogSearch } from './modules/chatbots/conversations/register-logs.ts';
import { chatbotsModule } from './modules/chatbots/module.ts';
import { contentWriterModule } from './modules/content-writer/module.ts';
import { embeddingsModule } from './modules/embeddings/module.ts';
import { failoverModule } from './modules/failover/module.ts';
import { imagesModule } from './modules/images/module.ts';
import { checkKeyOwners, keysModule } from './modules/keys/module.ts';
import { knowledgeBaseModule } from './modules/knowledge-base/module.ts';
import { openAiModule } from './modules/openai/module.ts';
import { textModule } from './modules/text/module.ts';
import { usageModule } from './modules/usage/module.ts';
import { vectorStoresModule } from './modules/vector-stores/module.ts';
import { createProviderFactory } from './providers/compatible-provider.ts';
import { createProviderRegistry } from './providers/registry.ts';
import { bindSecrets, secretStores } from './secret-stores.ts';
import { settingsModule } from './settings/module.ts';
import { checkRestKey } from './settings/rest-key.ts';
import { localStoreModule } from './vector-stores/local/module.ts';
import { removeUsageSpool } from './modules/usage/ledger/usage-spool.ts';
import { keepShownValues } from './shown-filters.ts';
import { removeOptions } from './settings/settings.ts';
import { webhooksModule } from './webhooks/module.ts';
import { deliveryLogModule } from './webhooks/delivery-log-module.ts';

/** The table of contents of the service. A new module is added here and nowhere else. */
const modules: readonly Module<ServiceContext>[] = [
  settingsModule,
  textModule,
  imagesModule,
  embeddingsModule,
  openAiModule,
  anthropicModule,
  chatbotsModule,
  contentWriterModule,
  automationsModule,
  aiFormsModule,
  knowledgeBaseModule,
  usageModule,
  budgetsModule,
  keysModule,
  failoverModule,
  vectorStoresModule,
  localStoreModule,
  deliveryLogModule,
  webhooksModule,
];

const jobs = modules.flatMap((module) => module.jobs);
const tables = modules.flatMap((module) => module.tables);

export default definePlugin({
  migrations: collectMigrations(modules),
  async register(host: HostApi) {
    keepShownValues(host.hooks);
    host.hooks.addFilter('rest_exposed_cors_headers', (names) => [...names, ...exposedHeaders]);
    host.hooks.addFilter('rest_allowed_cors_headers', (names) => [...names, ...visitorHeaders]);
    const context = await createServices(host);
    for (const module of modules) await module.register(context);
    host.hooks.addAction('host_started', () => {
      loadAhead(context).catch((error: unknown) => {
        host.log.warn('Failed to load the code of providers', { event: 'providers_not_loaded', error });
      });
    });
    const stores = secretStores(context);
    for (const store of stores) host.secrets.addStore(store);
    await bindSecrets(stores, host);
  },
  health: async (host: HostApi) => [
    ...(await checkRestKey(host)),
    ...(await checkKeyOwners(host)),
    ...(await checkLogSearch(host)),
    ...(await checkUnpriced(host)),
  ],
  async uninstall(host: HostApi) {
    // Plugins that add providers use it in their filter.
    host.services.provide('svc.providers', createProviderFactory());
    const providers = createProviderRegistry({ hooks: host.hooks });
    await removeOptions(
      host.options,
      providers.all().map(({ id }) => id),
    );
    await removeUsageSpool(host.site);
    for (const job of jobs) await host.cron.unschedule(job);
    for (const table of tables) await host.database.knex.schema.dropTableIfExists(table);
  },
});

/** What the first call would load while others wait (D46): the start does not wait for it. */
async function loadAhead({ host, settings, providers }: ServiceContext): Promise<void> {
  const { loadConfigured } = await import('./ai/provider-connection.ts');
  const loaded = await loadConfigured({ settings, registry: providers });
  if (loaded.length > 0) await Promise.all([import('undici'), import('./ai/generate-text.ts')]);
  host.log.debug('Loaded the code of providers', { event: 'providers_loaded', providers: loaded });
}
