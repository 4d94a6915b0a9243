import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startWebhookReceiver, type WebhookReceiver } from '../contract/webhook-receiver.ts';
import { makePdf } from '../helpers/make-pdf.ts';
import { becomes } from '../helpers/until.ts';
import { confirmQuestion, expectLooks, openDetails } from './browser.ts';
import { isOfPage, openBotsSite, type BotsSite } from './bots-site.ts';

const pages: Readonly<Record<string, string>> = {
  '/sitemap.xml':
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>ORIGIN/opening</loc></url><url><loc>ORIGIN/gone</loc></url></urlset>',
  '/opening':
    '<title>Opening hours</title><nav>Menu</nav><main><h1>Opening hours</h1><p>On Saturdays the showroom opens at eleven in the morning and closes at four.</p></main>',
};

describe('knowledge bases in the browser', () => {
  let site: BotsSite;
  let receiver: WebhookReceiver;
  let folder: string;
  let far: Server;
  let origin: string;

  before(async () => {
    site = await openBotsSite();
    receiver = await startWebhookReceiver();
    folder = await mkdtemp(join(tmpdir(), 'knowledge-'));
    far = createServer((request, response) => {
      const body = pages[request.url ?? '']?.replaceAll('ORIGIN', origin);
      response
        .writeHead(body === undefined ? 404 : 200, {
          'content-type': request.url?.endsWith('.xml') === true ? 'application/xml' : 'text/html',
        })
        .end(body ?? 'no');
    });
    await new Promise<void>((resolve) => far.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${String((far.address() as AddressInfo).port)}`;
    await site.host.cli('svc', 'webhook', 'on');
    await site.host.cli(
      'svc',
      'webhook',
      'add',
      '--json',
      JSON.stringify({ name: 'Shop', url: receiver.url, events: ['kb.source_indexed'] }),
    );
  });
  after(async () => {
    await site.stop();
    await receiver.stop();
    far.close();
    await rm(folder, { recursive: true, force: true });
  });

  const accessible = async (): Promise<void> => {
    const { page } = site;
    await openDetails(page);
    await expectLooks(page, { isOwn: isOfPage });
    await page.evaluate('for (const details of document.querySelectorAll("main details")) details.open = false');
  };

  it('can be made as soon as there is a provider: the site’s own database stores their vectors', async () => {
    const { page, host } = site;
    await page.goto(`${host.url}/admin/svc/knowledge`);
    await page.getByRole('link', { name: 'Create your first knowledge base' }).waitFor();
    await accessible();
    await host.cli('svc', 'sandbox', 'on');
    await page.reload();
    await page.getByRole('link', { name: 'Create your first knowledge base' }).waitFor();
    await accessible();
  });

  it('are made, filled with a file, an answer, a page and a sitemap while the page shows it, and asked', async () => {
    const { page } = site;
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Help pages');
    // The site's own database is chosen unless a person chooses another.
    expect(await page.getByLabel('Vector store').inputValue()).to.equal('local');
    await page.getByLabel('Vector store').selectOption('chroma');
    await page.getByLabel('Index or collection').fill('help-pages');
    await page.getByRole('button', { name: 'Create knowledge base' }).click();
    await page.getByText('No sources yet').waitFor();
    await accessible();

    const path = join(folder, 'manual.pdf');
    const filler = Array.from({ length: 30 }, (_, at) => ({
      text: `Line ${String(at)} of this page says something about kettles and spouts.`,
    }));
    await writeFile(
      path,
      makePdf(
        Array.from({ length: 40 }, (_, at) => [
          { text: `Chapter ${String(at + 1)}`, size: 18 },
          ...filler.slice(0, 20),
          ...(at === 20 ? [{ text: 'The gasket of the samovar is changed every spring.' }] : []),
          ...filler.slice(20),
        ]),
        'Manual',
      ),
    );
    const unreadable = join(folder, 'photo.bin');
    await writeFile(unreadable, Buffer.from([0, 1, 2]));
    await page.getByLabel('Drop files here, or choose them').setInputFiles([path, unreadable]);
    await page.getByText('1 uploaded, 1 failed.').waitFor();
    await page
      .locator('.upload-list li', { hasText: 'photo.bin' })
      .getByText('Upload a file of one of these types')
      .waitFor();
    expect(site.problems.splice(0)).to.deep.equal([
      'Failed to load resource: the server responded with a status of 400 (Bad Request)',
    ]);
    // It is listed, and followed, without a reload.
    await page
      .locator('.kb-source')
      .getByText('manual.pdf')
      .or(page.locator('.kb-source').getByText('Manual'))
      .first()
      .waitFor();

    const add = async (form: string, values: Readonly<Record<string, string>>, button: string): Promise<void> => {
      await page.locator(`#add-${form} summary`).click();
      for (const [label, value] of Object.entries(values))
        await page.locator(`#add-${form}`).getByLabel(label).fill(value);
      await page.getByRole('button', { name: button }).click();
      await page.locator('.notice').first().waitFor();
    };
    await add('qa', { Question: 'Do you ship to Iceland?', Answer: 'Yes, every Tuesday by boat.' }, 'Add answer');
    await add('sitemap', { URL: `${origin}/sitemap.xml` }, 'Add pages');
    await add('address', { URL: `${origin}/missing` }, 'Add page');
    // The page updates without a reload.
    await page.getByText('4 of 5 indexed, 1 failed').waitFor({ timeout: 60_000 });
    await page.getByText('it no longer exists').waitFor();
    await accessible();

    await page.getByLabel('Question', { exact: true }).last().fill('When is the gasket of the samovar changed?');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.locator('.kb-found li').first().getByText('gasket of the samovar').waitFor();
    await page.getByText('Chatbots use the best passages.').waitFor();
    const scores = await page.locator('.kb-found .kb-score').allInnerTexts();
    expect(scores.map((score) => Number.parseFloat(score))).to.deep.equal(
      scores.map((score) => Number.parseFloat(score)).sort((one, other) => other - one),
    );
    await accessible();
    await receiver.first(3);
    const events = receiver.received.map(
      ({ body }) =>
        JSON.parse(body.toString()) as { source: { origin: string }; data: { source: { post_title: string } } },
    );
    expect(events.map(({ data }) => data.source.post_title).sort()).to.deep.equal([
      'Do you ship to Iceland?',
      'Manual',
      'Opening hours',
    ]);
    expect(new Set(events.map(({ source }) => source.origin))).to.deep.equal(new Set(['admin_knowledge_base']));
  });

  it('answer for a chatbot that chooses them, keep its questions without an answer, and learn it', async () => {
    const { page, host } = site;
    const id = await site.open({}, 'edit?id=');
    await site.section('Knowledge');
    await page.getByText('Answer from a knowledge base').click();
    await page.getByLabel('Knowledge base', { exact: true }).selectOption({ label: 'Help pages' });
    await page.getByLabel('Minimum match (%)').fill('30');
    await site.save();
    await page.getByText('Assistant saved.').waitFor();
    expect((await site.bot(id)) as object).to.have.nested.property('knowledge.base');
    await page.goto(`${host.url}/admin/svc/bots/edit?id=${String(id)}`);
    await site.say('Do you ship to Iceland?');
    const answers = site.preview.locator('.entry:not(.mine)[data-state="done"] .bubble');
    await site.preview.getByText('Sources').waitFor();
    await answers.first().waitFor();
    // The minimum is relative to the best passage (D53): only where nothing is found is a question without an answer.
    const empty = ['--store=chroma', '--target=empty-pages', '--provider=openai', '--model=text-embedding-3-small'];
    const created = await host.cli('svc', 'knowledge', 'create', 'Empty pages', ...empty, '--json');
    expect(created.code, created.err).to.equal(0);
    await page.goto(`${host.url}/admin/svc/bots/edit?id=${String(id)}`);
    await site.section('Knowledge');
    await page.getByLabel('Knowledge base', { exact: true }).selectOption({ label: 'Empty pages' });
    await site.save();
    await page.getByText('Assistant saved.').waitFor();
    await page.goto(`${host.url}/admin/svc/bots/edit?id=${String(id)}`);
    await site.say('Zanzibar quokka xylophone?');
    await answers.first().waitFor();
    await becomes(async () => {
      await page.goto(`${host.url}/admin/svc/knowledge/questions`);
      return page.getByText('Zanzibar quokka xylophone?').count();
    }, 1);
    await accessible();
    await page.getByText('Write the answer').click();
    await page.getByLabel('Answer', { exact: true }).fill('The quokka plays on Fridays.');
    await page.getByRole('button', { name: 'Save the answer' }).click();
    await page.getByText('Answer added to Empty pages.').waitFor();
    await page.getByText('No open questions').waitFor();
    await accessible();
    const questions = JSON.parse(
      (await host.cli('svc', 'knowledge', 'questions', '--state=answered', '--json')).out,
    ) as { question: string }[];
    expect(questions.map(({ question }) => question)).to.deep.equal(['Zanzibar quokka xylophone?']);
    const { id: base } = JSON.parse(created.out) as { readonly id: number };
    await host.cli('svc', 'knowledge', 'delete', String(base), '--target');
  });

  it('are deleted with their collection', async () => {
    const { page, host } = site;
    await page.goto(`${host.url}/admin/svc/knowledge`);
    await accessible();
    await page.getByRole('link', { name: 'Help pages', exact: true }).click();
    await page.locator('#delete summary').click();
    await page.getByText('Also delete its index or collection').click();
    await page.getByRole('button', { name: 'Delete permanently' }).click();
    await confirmQuestion(page);
    // A reload before that would take the form back.
    await page.getByText('Deleting Help pages').waitFor();
    await becomes(async () => {
      await page.reload();
      return page.getByRole('link', { name: 'Help pages', exact: true }).count();
    }, 0);
    await becomes<unknown[]>(() => host.database.knex('sandbox_collections'), []);
    expect(site.problems.filter((problem) => !problem.includes('404'))).to.deep.equal([]);
  });
});
