import { expect } from 'chai';
import { describeWidget } from './widget-site.ts';

describeWidget('shortcode [svc_chatbot]', (site) => {
  it('puts the widget into a page of the site, inline by default', async () => {
    const bot = await site().bot({ name: 'Anna' });
    const root = `${site().host.url}/wp-json`;
    const html = await site().host.content.doShortcode(`[svc_chatbot id=${String(bot.id)}]`);
    expect(html.trim()).to.equal(
      [
        `<svc-chatbot bot="${String(bot.id)}" root="${root}" mode="inline"></svc-chatbot>`,
        '<noscript><p>The chat “Anna” needs JavaScript.</p></noscript>',
        `<script src="${root}/svc-widget/v1/widget.js" async></script>`,
      ].join('\n'),
    );
    expect(await site().host.content.doShortcode(`[svc_chatbot ${String(bot.id)} mode="popup"]`)).to.contain(
      'mode="popup"',
    );
  });

  it('shows nothing to visitors if the bot cannot be shown, and the reason to administrators', async () => {
    const bot = await site().bot({ name: 'Anna', status: 'inactive' });
    const { cookie } = await site().user('root', 'administrator');
    const post = async (shortcode: string): Promise<string> => {
      const { id } = await site().host.content.posts.create({
        title: 'Page',
        type: 'page',
        status: 'publish',
        content: `<p>Before</p>${shortcode}<p>After</p>`,
      });
      return `/?page_id=${String(id)}`;
    };
    const cases = [
      ['[svc_chatbot]', 'Add the id of the chatbot'],
      ['[svc_chatbot id=99]', 'no chatbot with the id 99'],
      [`[svc_chatbot id=${String(bot.id)}]`, '“Anna” is not active'],
      ['[svc_chatbot id="7 or 1"]', 'no chatbot with the id 7 or 1'],
    ] as const;
    for (const [shortcode, reason] of cases) {
      const address = await post(shortcode);
      const visitor = await (await site().host.fetch(address)).text();
      expect(visitor)
        .to.contain('Before')
        .and.contain('After')
        .and.not.contain('chatbot is shown')
        .and.not.contain('svc_chatbot');
      const admin = await (await site().host.fetch(address, { headers: { cookie } })).text();
      expect(admin, shortcode).to.contain('No chatbot is shown here.').and.contain(reason);
    }
    await site().change(bot.id, { status: 'active', embed: { enabled: false } });
    expect(
      await (await site().host.fetch(await post(`[svc_chatbot id=${String(bot.id)}]`), { headers: { cookie } })).text(),
    ).to.contain('embedding is off in its settings');
  });
});
