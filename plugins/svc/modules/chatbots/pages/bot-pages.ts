import type { NextStep } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import { lazyPages, type LazyPage } from '../../../kit/lazy.ts';
import { botsSlug, editSlug, formSlug, formsSlug, newBotSlug, ruleSlug, rulesSlug } from './bot-page-slugs.ts';

/** Largest import file, in bytes. */
const importLimit = 2_000_000;

const editorPage = (slug: string, title: string, body: LazyPage<ChatbotParts>['body']) => ({
  slug,
  title,
  body,
  script: 'bot-edit.js',
});

/** The pages that create and edit bots. */
export const botPages = lazyPages<ChatbotParts>({
  slug: botsSlug,
  title: 'Chatbots',
  group: 'chat',
  icon: 'chat',
  position: 10,
  uploadLimit: importLimit,
  style: 'bots.css',
  body: () => import('./bots.page.ts'),
  subpages: [
    { slug: newBotSlug, title: 'New chatbot', body: () => import('./bot-new.page.ts') },
    editorPage(editSlug, 'Chatbot settings', () => import('./bot-edit.page.ts')),
    editorPage(rulesSlug, 'Rules', () => import('./bot-rules.page.ts')),
    editorPage(ruleSlug, 'Rule', () => import('./bot-rule.page.ts')),
    editorPage(formsSlug, 'Forms', () => import('./bot-forms.page.ts')),
    editorPage(formSlug, 'Form', () => import('./bot-form.page.ts')),
  ],
});

/** A step of the dashboard: create the first chatbot. The code of bots is loaded when the dashboard is first opened. */
export function addBotStep(parts: ChatbotParts): void {
  parts.host.hooks.addFilter(
    'admin_next_steps',
    async (steps: readonly NextStep[]) => {
      const done = !(await parts.bots.isEmpty());
      return [...steps, { text: 'Create your first chatbot.', href: 'svc/bots', done }];
    },
    20,
  );
}
