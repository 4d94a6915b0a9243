import { matchesSearch } from '#plugin-api';
import { lazyCommands, lazyPages } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import { botsMigration, botsTable, minimumMatchMigration } from './bots/bots-table.ts';
import { submissionMigrations, submissionsTable } from './forms/submission-tables.ts';
import { registerLogs, retentionHook } from './conversations/register-logs.ts';
import { conversationMigrations, conversationTables } from './conversations/conversation-tables.ts';
import { createChatbots, type ChatbotParts, type ChatbotPorts } from './chatbots.ts';
import { chatMessageRoute } from './chat-message.route.ts';
import { embedConfigRoute } from './embed-config.route.ts';
import './hooks.ts';
import { logsRoute } from './logs.route.ts';
import { addBotStep, botPages } from './pages/bot-pages.ts';
import { editSlug, submissionSlug, submissionsSlug } from './pages/bot-page-slugs.ts';
import { registerWidget, widgetSweepHook } from './widget/register-widget.ts';
import { registerScriptRoutes } from './widget/register-widget.ts';
import { widgetMigrations, widgetTables } from './widget/widget-tables.ts';

/** Results of a search of the admin. */
const mostFound = 50;

/** Chatbots: what they are set to, their conversations, and the widget that visitors meet them in. */
export const chatbotsModule = defineModule<ChatbotPorts, ChatbotParts>({
  create: createChatbots,
  routes: [chatMessageRoute, logsRoute, embedConfigRoute],
  pages: [
    ...botPages,
    ...lazyPages<ChatbotParts>({
      slug: 'svc/logs',
      title: 'Chat logs',
      group: 'chat',
      icon: 'inbox',
      position: 11,
      style: 'logs.css',
      body: () => import('./pages/logs.page.ts'),
      subpages: [
        { slug: 'svc/conversation', title: 'Conversation', body: () => import('./pages/conversation.page.ts') },
        { slug: 'svc/personal-data', title: 'Personal data', body: () => import('./pages/personal-data.page.ts') },
      ],
    }),
    ...lazyPages<ChatbotParts>({
      slug: submissionsSlug,
      title: 'Form submissions',
      group: 'chat',
      icon: 'form',
      position: 12,
      body: async () => ({ createPage: (await import('./pages/submission-pages.ts')).submissionsPage }),
      subpages: [
        {
          slug: submissionSlug,
          title: 'Form submission',
          body: async () => ({ createPage: (await import('./pages/submission-pages.ts')).submissionPage }),
        },
      ],
    }),
    ...lazyPages<ChatbotParts>({
      slug: 'svc/check-site',
      title: 'Check my site',
      group: 'chat',
      icon: 'check',
      position: 13,
      body: () => import('./pages/site-check.page.ts'),
    }),
  ],
  commands: [
    lazyCommands(async () => (await import('./bots/bot-commands.ts')).botCommands),
    lazyCommands(async () => (await import('./conversations/log-commands.ts')).logCommands),
    lazyCommands(async () => (await import('./site-check/site-check-commands.ts')).siteCheckCommands),
  ],
  migrations: [
    botsMigration,
    ...submissionMigrations,
    ...conversationMigrations,
    ...widgetMigrations,
    minimumMatchMigration,
  ],
  tables: [botsTable, submissionsTable, ...conversationTables, ...Object.values(widgetTables)],
  jobs: [widgetSweepHook, retentionHook],
  register: async (parts) => {
    await registerWidget(parts);
    await registerLogs(parts);
    addBotStep(parts);
    parts.host.hooks.addFilter('admin_search', async (results, { query, user }) => {
      if (!user.can('manage_options')) return results;
      const bots = (await parts.bots.summaries()).filter(({ name }) => matchesSearch(query, name)).slice(0, mostFound);
      return [
        ...results,
        ...bots.map(({ id, name }) => ({ title: name, note: 'Chatbot', href: `${editSlug}?id=${String(id)}` })),
      ];
    });
    parts.host.hooks.addFilter('svc_provider_users', async (users) => [
      ...users,
      ...(await parts.bots.summaries())
        .filter(({ status }) => status === 'active')
        .map(({ id, name, provider }) => ({ kind: 'Chatbot', name, provider, href: `${editSlug}?id=${String(id)}` })),
    ]);
    parts.host.hooks.addFilter('admin_home', async (home, context) =>
      (await import('./pages/home.ts')).addChatHome(parts, home, context),
    );
    registerScriptRoutes(parts);
  },
});
