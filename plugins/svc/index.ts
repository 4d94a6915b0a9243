import { definePlugin, type HostApi } from '#plugin-api';
import { usageDaysTable, usageTable } from './ai/usage-ledger/usage-tables.ts';
import { createContext, type ServiceContext } from './context.ts';
import { rateLimitTable } from './kit/rate-limit.ts';
import { migrationsOf, registerModule, type Module } from './kit/module.ts';
import { chatbotJobs, chatbotsModule, chatbotTables } from './modules/chatbots/module.ts';
import { embeddingsModule } from './modules/embeddings/module.ts';
import { imagesModule } from './modules/images/module.ts';
import { textModule } from './modules/text/module.ts';
import { usageModule } from './modules/usage/module.ts';
import { sweepHook } from './modules/usage/sweep.ts';
import { vectorStoresModule } from './modules/vector-stores/module.ts';
import { createProviderRegistry } from './providers/registry.ts';
import { settingsModule } from './settings/module.ts';
import { removeOptions } from './settings/settings.ts';
import { webhookTables } from './webhooks/migrations.ts';
import { webhookJobs, webhooksModule } from './webhooks/module.ts';
import { recorderModule, recorderTables } from './webhooks/recorder-module.ts';

/** The table of contents of the service. A new module is added here and nowhere else. */
const modules: readonly Module<ServiceContext>[] = [settingsModule, textModule, imagesModule, embeddingsModule, chatbotsModule, usageModule, vectorStoresModule, recorderModule, webhooksModule];

export default definePlugin({
  migrations: migrationsOf(modules),
  async register(host: HostApi) {
    const context = await createContext(host);
    for (const module of modules) await registerModule(module, context);
  },
  async uninstall(host: HostApi) {
    const providers = await createProviderRegistry({ hooks: host.hooks });
    await removeOptions(host.options, providers.all().map(({ id }) => id));
    for (const job of [sweepHook, ...chatbotJobs, ...webhookJobs]) await host.cron.unschedule(job);
    for (const table of [rateLimitTable, usageTable, usageDaysTable, ...chatbotTables, ...webhookTables, ...recorderTables]) await host.database.knex.schema.dropTableIfExists(table);
  },
});
