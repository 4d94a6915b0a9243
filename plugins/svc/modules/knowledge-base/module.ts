import type { ServiceContext } from '../../context.ts';
import { defineModule } from '../../kit/module.ts';

export const knowledgeBaseModule = defineModule<ServiceContext>({
  id: 'knowledge-base',
  title: 'Knowledge Base',
});

/** Removed when the plugin is uninstalled. */
export const knowledgeTables: readonly string[] = [];

/** Cron jobs, for uninstalling. */
export const knowledgeJobs: readonly string[] = [];
