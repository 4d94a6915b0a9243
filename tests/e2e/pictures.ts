import { fileURLToPath } from 'node:url';
import { startSite } from '../helpers/running-site.ts';
import { openBrowser, openPage, signIn } from './browser.ts';
import { startWidgetSite } from './widget-site.ts';

/** Takes the README's pictures anew: node tests/e2e/pictures.ts */
const folder = fileURLToPath(new URL('../../host/admin/pictures/', import.meta.url));
const administrator = { ADMIN_USER: 'ada', ADMIN_PASSWORD: 'correct horse battery', ADMIN_EMAIL: 'ada@example.com' };
const site = await startSite({ ...administrator, SITE_URL: '' });
const browser = await openBrowser();
try {
  await site.cli('svc', 'sandbox', 'on');
  await site.cli('svc', 'key', 'generate');
  const { page } = await openPage(browser, { viewport: { width: 1200, height: 860 } });
  await signIn(page, { url: site.url, login: administrator.ADMIN_USER, password: administrator.ADMIN_PASSWORD });
  await page.goto(`${site.url}/admin/svc`);
  await page.screenshot({ path: `${folder}ai-service.png` });
} finally {
  await browser.close();
  await site.stop();
}

const answer = `Yes! You have **60 days**, and it is free:

1. Pack the item, label included.
2. Bring it to any of our shops, or [print a label](https://example.com/label).

| Within | You get |
|---|---|
| 14 days | your money back |
| 60 days | a voucher |`;
const widgets = await startWidgetSite();
try {
  const id = await widgets.bot({
    name: 'Aurora',
    greeting: 'Hi! I am **Aurora**. Ask me about orders, returns or anything in the shop.',
    starters: ['Can I return a present?', 'Where is my order?'],
    look: { icon: 'spark', corner_radius: 16, primary_color: '#0f766e' },
    texts: { title: 'Aurora', subtitle: 'Answers at once, day and night' },
    rules: [
      {
        id: 'returns',
        name: 'Returns',
        enabled: true,
        event: 'message_received',
        conditions: [{ fact: 'message', operator: 'contains', value: 'return' }],
        action: { type: 'reply', text: answer },
        priority: 1,
      },
    ],
  });
  const style =
    '<style>body { margin: 0; background: #f4f1ea; font: 18px Georgia, serif; color: #3b352b } main { padding: 56px 64px; max-width: 460px } h1 { font-size: 44px; margin: 0 0 16px }</style>';
  const { page, chat } = await widgets.visit(
    { head: style, body: widgets.tag(id) },
    { viewport: { width: 1000, height: 780 } },
  );
  await chat.open();
  await chat.root.getByRole('button', { name: 'Can I return a present?' }).click();
  await chat.answers.first().waitFor();
  await page.mouse.move(10, 10);
  // Movements end, the cursor does not blink.
  await page.screenshot({ path: `${folder}widget.png`, animations: 'disabled' });
} finally {
  await widgets.stop();
}
