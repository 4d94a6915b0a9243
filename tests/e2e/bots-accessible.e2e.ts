import { expectLooks, openDetails } from './browser.ts';
import { isOfPage, openBotsSite, type BotsSite } from './bots-site.ts';

describe('the pages of chatbots', () => {
  let site: BotsSite;
  before(async () => {
    site = await openBotsSite();
  });
  after(() => site.stop());

  const contact = {
    id: 'contact',
    name: 'Contact',
    elements: [
      { id: 'email', type: 'email', label: 'E-mail', required: true },
      { id: 'when', type: 'select', label: 'When?', options: [{ value: 'am', label: 'In the morning' }] },
    ],
  };
  const showContact = {
    id: 'show',
    name: 'Show it',
    event: 'message_received',
    conditions: [
      { fact: 'message', operator: 'contains', value: 'person\nhuman' },
      { fact: 'variable:asked', operator: 'is_empty' },
    ],
    action: { type: 'display_form', form_id: 'contact' },
  };
  for (const at of [
    '?',
    'new?',
    'edit?id=#basics',
    'edit?id=#knowledge',
    'edit?id=#look',
    'edit?id=#texts',
    'edit?id=#limits',
    'edit?id=#safety',
    'edit?id=#embed',
    'rules?bot=',
    'rule?rule=show&bot=',
    'forms?bot=',
    'form?form=contact&bot=',
    'edit?id=0',
  ]) {
    it(`are accessible and fit narrow windows, light and dark: svc/bots/${at}`, async () => {
      const { host, page, open } = site;
      const id = await open({ forms: [contact], rules: [showContact], status: 'inactive' }, 'new?');
      const [path = '', fragment = ''] = at.replace(/(=)(#|$)/, `$1${String(id)}$2`).split('#');
      await expectLooks(page, {
        load: async () => {
          // A change of the fragment alone would not load the page again.
          await page.goto('about:blank');
          await page.goto(`${host.url}/admin/svc/bots${path === '?' ? '' : `/${path}`}#${fragment}`);
          await openDetails(page);
        },
        isOwn: isOfPage,
      });
    });
  }
});
