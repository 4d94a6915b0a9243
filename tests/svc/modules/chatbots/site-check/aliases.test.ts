import { expect } from 'chai';
import { createHooks } from '../../../../../host/hooks/hooks.ts';
import type { Bot } from '../../../../../plugins/svc/modules/chatbots/bots/bot.ts';
import type { ChatbotParts } from '../../../../../plugins/svc/modules/chatbots/chatbots.ts';
import { createPage as siteCheckPage } from '../../../../../plugins/svc/modules/chatbots/pages/site-check.page.ts';

describe('Old names of the site check', () => {
  const bot = { id: 7, name: 'Helper', embed: { enabled: true, any_site: false, allowed_domains: [] as string[] } };

  for (const name of ['svc_chatbot_demo_site', 'svc_chatbot_pretend_shop'] as const)
    it(`offers the demo site of the filter ${name}`, async () => {
      const hooks = createHooks();
      hooks.addFilter(name, () => ({ origin: 'http://127.0.0.1:4021' }));
      const page = siteCheckPage({
        host: { hooks, admin: { url: (slug: string) => `/admin/${slug}` }, site: { url: 'https://site.example' } },
        bots: { summaries: () => Promise.resolve([bot]), get: () => Promise.resolve(bot as unknown as Bot) },
      } as unknown as ChatbotParts);
      const { data } = await page.render({ query: {} } as Parameters<typeof page.render>[0]);
      expect(data).to.have.nested.property('demo.url', 'http://127.0.0.1:4021/?bot=7');
    });
});
