import type { ChatbotParts } from '../chatbots.ts';
import { lazyPage, type LazyPage } from '../../../kit/lazy.ts';
import { botsSlug, editSlug, formSlug, formsSlug, newBotSlug, ruleSlug, rulesSlug } from './bot-page-slugs.ts';

type Declared = Omit<LazyPage<ChatbotParts>, 'parent' | 'style'>;

/** Largest file that is imported, in bytes. */
const importLimit = 2_000_000;

const editor = { style: 'bots.css', script: 'bot-edit.js' } as const;
const declared: readonly (Declared & { readonly script?: string })[] = [
  { slug: newBotSlug, title: 'New chatbot', body: async () => (await import('./bot-new.page.ts')).botNewPage },
  {
    slug: editSlug,
    title: 'Edit chatbot',
    script: editor.script,
    body: async () => (await import('./bot-edit.page.ts')).botEditPage,
  },
  {
    slug: rulesSlug,
    title: 'Rules',
    script: editor.script,
    body: async () => (await import('./bot-rules.page.ts')).botRulesPage,
  },
  {
    slug: ruleSlug,
    title: 'Rule',
    script: editor.script,
    body: async () => (await import('./bot-rule.page.ts')).botRulePage,
  },
  {
    slug: formsSlug,
    title: 'Forms',
    script: editor.script,
    body: async () => (await import('./bot-forms.page.ts')).botFormsPage,
  },
  {
    slug: formSlug,
    title: 'Form',
    script: editor.script,
    body: async () => (await import('./bot-form.page.ts')).botFormPage,
  },
];

/** The pages on which bots are made and edited. */
export const botPages = [
  lazyPage<ChatbotParts>({
    slug: botsSlug,
    title: 'Chatbots',
    menu: 'Chatbots',
    parent: 'svc',
    icon: 'chat',
    position: 10,
    style: 'bots.css',
    uploadLimit: importLimit,
    body: async () => (await import('./bots.page.ts')).botsPage,
  }),
  ...declared.map((page) => lazyPage<ChatbotParts>({ ...page, parent: botsSlug, style: editor.style })),
];

interface NextStep {
  readonly text: string;
  readonly href?: string;
  readonly done?: boolean;
}

/** On the dashboard: a first chatbot, until there is one. The bots' code is loaded with the first look at it. */
export function addBotStep(parts: ChatbotParts): void {
  parts.host.hooks.addFilter(
    'admin_next_steps',
    async (steps: readonly NextStep[]) => {
      const bots = await parts.bots.list();
      return [...steps, { text: 'Make your first chatbot.', href: 'svc/bots', done: bots.length > 0 }];
    },
    20,
  );
}
