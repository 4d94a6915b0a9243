import { expect } from 'chai';
import { describeBotsAdmin } from '../modules/chatbots/pages/bots-admin.ts';

interface Listed {
  readonly id: number;
  readonly name: string;
  readonly status: string;
}

describeBotsAdmin('the lists of AI forms and of tasks', (admin) => {
  async function cli(...argv: string[]): Promise<unknown> {
    const { code, out, err } = await admin().host.cli(...argv, ...(argv.includes('--json') ? [] : ['--json']));
    if (code !== 0) throw new Error(err);
    return JSON.parse(out) as unknown;
  }
  const shown = async (address: string): Promise<(string | undefined)[]> =>
    [...(await admin().browser.get(address)).html.matchAll(/aria-label="Select ([^"]+)"/g)].map(([, name]) => name);

  it('find, filter and sort forms, and change several with an Undo', async () => {
    const { browser } = admin();
    const page = '/admin/svc/ai-forms';
    expect((await browser.get(page)).text)
      .to.contain('Start with')
      .and.not.contain('Search forms');
    await browser.submit(page, 'create', { starter: 'blank' });
    await browser.submit(page, 'create', { starter: 'product-text' });
    const forms = async () => (await cli('svc', 'form', 'list')) as Listed[];
    const [first, second] = await forms();
    const ids = `${String(first?.id)},${String(second?.id)}`;
    expect(await shown(`${page}?sort=id&order=desc`)).to.deep.equal([second?.name, first?.name]);
    expect(await shown(`${page}?s=${encodeURIComponent(second?.name ?? '')}`)).to.deep.equal([second?.name]);
    expect((await browser.get(`${page}?s=nothing`)).text).to.contain('No form matches these filters.');
    const off = await browser.submit(page, 'bulk', { do: 'inactive', ids: String(first?.id) });
    expect(off.text).to.contain(`${first?.name ?? ''} deactivated.`);
    expect(await shown(`${page}?status=inactive`)).to.include(first?.name);
    const both = await browser.submit(page, 'bulk', { do: 'active', ids });
    const was = /name="was" value="([^"]+)"/.exec(both.html)?.[1] ?? '';
    await browser.submit(page, 'bulk', { do: 'undo', ids, was });
    expect((await forms()).find(({ id }) => id === first?.id)?.status).to.equal('inactive');
    expect((await browser.submit(page, 'bulk', { do: 'delete', ids })).text).to.contain(
      '2 forms deleted, with all submissions.',
    );
    expect(await forms()).to.deep.equal([]);
  });

  it('pause, resume and delete several tasks', async () => {
    const { browser } = admin();
    const page = '/admin/svc/tasks';
    for (const name of ['Alpha', 'Beta'])
      await cli(
        ...['svc', 'task', 'create', '--json'],
        JSON.stringify({ name, type: 'content_writing', source: { kind: 'list', items: ['one'] } }),
      );
    const tasks = async () => (await cli('svc', 'task', 'list')) as Listed[];
    const ids = (await tasks()).map(({ id }) => id).join();
    expect((await browser.submit(page, 'bulk', { do: 'paused', ids })).text).to.contain('2 automations paused.');
    expect((await tasks()).map(({ status }) => status)).to.deep.equal(['paused', 'paused']);
    const [{ id } = { id: 0 }] = await tasks();
    expect((await browser.submit(page, 'bulk', { do: 'active', ids: String(id) })).text).to.contain('Alpha resumed.');
    expect(await shown(`${page}?status=paused`)).to.deep.equal(['Beta']);
    expect(await shown(`${page}?s=ALP`)).to.deep.equal(['Alpha']);
    expect(await shown(`${page}?sort=name&order=desc`)).to.deep.equal(['Beta', 'Alpha']);
    expect((await browser.get(`${page}/edit?id=${String(id)}`)).html).to.match(/<h1[^>]*>Alpha</);
    const types = await browser.get(`${page}/edit?type=data_extraction`);
    expect(types.html).to.match(/<option value="openai"[^>]*>OpenAI</);
    expect((await browser.submit(page, 'bulk', { do: 'inactive', ids })).text).to.contain('Select');
    expect((await browser.submit(page, 'bulk', { do: 'delete', ids })).text).to.contain('2 automations deleted.');
    expect(await tasks()).to.deep.equal([]);
  });
});
