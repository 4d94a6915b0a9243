import type { NextStep } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import { lazyPage, type LazyPage } from '../../../kit/lazy.ts';
import { botsSlug, editSlug, formSlug, formsSlug, newBotSlug, ruleSlug, rulesSlug } from './bot-page-slugs.ts';

/** Largest import file, in bytes. */
const importLimit = 2_000_000;

const common = { parent: botsSlug, style: 'bots.css' } as const;

type Body = LazyPage<ChatbotParts>['body'];

const editorPage = (slug: string, title: string, body: Body) =>
  lazyPage<ChatbotParts>({ ...common, slug, title, body, script: 'bot-edit.js' });

/** The pages that create and edit bots. */
export const botPages = [
  lazyPage<ChatbotParts>({
    ...common,
    slug: botsSlug,
    title: 'Chatbots',
    menu: 'Chatbots',
    group: 'chat',
    icon: 'chat',
    position: 10,
    uploadLimit: importLimit,
    body: async () => (await import('./bots.page.ts')).botsPage,
  }),
  lazyPage<ChatbotParts>({
    ...common,
    slug: newBotSlug,
    title: 'New chatbot',
    body: async () => (await import('./bot-new.page.ts')).botNewPage,
  }),
  editorPage(editSlug, 'Chatbot settings', async () => (await import('./bot-edit.page.ts')).botEditPage),
  editorPage(rulesSlug, 'Rules', async () => (await import('./bot-rules.page.ts')).botRulesPage),
  editorPage(ruleSlug, 'Rule', async () => (await import('./bot-rule.page.ts')).botRulePage),
  editorPage(formsSlug, 'Forms', async () => (await import('./bot-forms.page.ts')).botFormsPage),
  editorPage(formSlug, 'Form', async () => (await import('./bot-form.page.ts')).botFormPage),
];

/** A step of the dashboard: create the first chatbot. The code of bots is loaded when the dashboard is first opened. */
export function addBotStep(parts: ChatbotParts): void {
  parts.host.hooks.addFilter(
    'admin_next_steps',
    async (steps: readonly NextStep[]) => {
      const bots = await parts.bots.list();
      return [...steps, { text: 'Create your first chatbot.', href: 'svc/bots', done: bots.length > 0 }];
    },
    20,
  );
}
