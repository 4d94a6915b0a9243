import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { createSystemClock } from '../../host/clock.ts';
import { readFaultSettings } from '../../plugins/sandbox/fault-injection.ts';
import { createSandboxServer } from '../../plugins/sandbox/server.ts';
import { silentLog } from '../helpers/silent-log.ts';
import { startSite, type RunningSite } from '../helpers/running-site.ts';
import { accessibilityViolations, openBrowser, openPage, overflow } from './browser.ts';

const run = promisify(execFile);

interface Answer {
  readonly content: string;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly total_tokens: number };
  readonly provider: string;
  readonly model: string;
}

/** Follows the setup link to the step where a way to begin is chosen. */
async function setUp(page: Page, site: RunningSite, before = async () => Promise.resolve()): Promise<void> {
  const [, link = ''] = await site.waitFor(/Set up your site: (\S+)/);
  await page.goto(link);
  await page.getByLabel('Site name').fill('Ada’s site');
  await page.getByLabel('User name').fill('ada');
  await page.getByLabel('Email address').fill('ada@example.com');
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery');
  await page.getByLabel('Confirm password').fill('correct horse battery');
  await before();
  await page.getByRole('button', { name: 'Set up site' }).click();
  await page.waitForURL('**/admin/setup/choice');
}

async function shownCommand(page: Page): Promise<string> {
  return (await page.locator('pre[aria-label="curl command"]').textContent()) ?? '';
}

/** Pastes the command into a shell. */
async function paste(command: string): Promise<Answer> {
  const { stdout } = await run('bash', ['-c', command]);
  return JSON.parse(stdout) as Answer;
}

describe('the first run', () => {
  let browser: Browser;
  let site: RunningSite;

  before(async () => {
    browser = await openBrowser();
  });
  after(() => browser.close());
  beforeEach(async () => {
    site = await startSite();
  });
  afterEach(() => site.stop());

  it('leads from the printed link through the sandbox to a first answer', async () => {
    const { page, problems } = await openPage(browser);
    await setUp(page, site, async () => {
      // Passwords that differ are not sent.
      const again = page.getByLabel('Confirm password');
      await again.fill('another horse battery');
      await page.getByRole('button', { name: 'Set up site' }).click();
      const message = await page.evaluate<string>('document.getElementById("password-again").validationMessage');
      expect(message).to.equal('The passwords do not match.');
      await again.fill('correct horse battery');
    });
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    await page.getByRole('button', { name: /sandbox/i }).click();
    const command = await shownCommand(page);
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    const answer = await paste(command);
    expect(Object.keys(answer)).to.deep.equal(['content', 'usage', 'provider', 'model']);
    expect(answer.content).to.be.a('string').that.is.not.empty;
    expect(answer.usage.total_tokens).to.equal(answer.usage.input_tokens + answer.usage.output_tokens);
    await page.getByRole('link', { name: 'Go to AI service' }).click();
    await page.getByRole('link', { name: 'SANDBOX', exact: true }).waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('leads through a provider of one’s own to a first answer', async () => {
    // Outside of any site, the sandbox's server is as good as a provider far away.
    const far = createSandboxServer({
      clock: createSystemClock(),
      log: silentLog,
      faults: () => Promise.resolve(readFaultSettings(undefined)),
    });
    try {
      const { url } = await far.start();
      const { page } = await openPage(browser);
      await setUp(page, site);
      await page.getByRole('button', { name: /provider/i }).click();
      await page.getByLabel('Provider', { exact: true }).selectOption('openai');
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByLabel('API key').fill('a wrong key');
      await page.getByLabel(/base url|address/i).fill(`${url}/openai/v1`);
      await page.getByRole('button', { name: 'Test and finish' }).click();
      expect(await page.getByRole('alert').first().textContent())
        .to.match(/api key/i)
        .and.not.to.include('a wrong key');
      expect(await accessibilityViolations(page)).to.deep.equal([]);
      await page.getByLabel('API key').fill('sandbox');
      await page.getByRole('button', { name: 'Test and finish' }).click();
      const answer = await paste(await shownCommand(page));
      expect(answer).to.include({ provider: 'OpenAI' });
      expect(answer.content).to.be.a('string').that.is.not.empty;
    } finally {
      await far.stop();
    }
  });

  it('works without scripts', async () => {
    const { page } = await openPage(browser, { javaScriptEnabled: false });
    await setUp(page, site);
    await page.getByRole('button', { name: /sandbox/i }).click();
    expect((await paste(await shownCommand(page))).provider).to.be.a('string');
  });

  it('opens its link once', async () => {
    const { page } = await openPage(browser);
    await setUp(page, site);
    const [, link = ''] = await site.waitFor(/Set up your site: (\S+)/);
    const { page: other } = await openPage(browser);
    const response = await other.goto(link);
    expect(response?.status()).to.equal(403);
    expect(await other.getByLabel('Site name').count()).to.equal(0);
  });

  for (const [name, options] of [
    ['at 390 pixels', { viewport: { width: 390, height: 800 } }],
    ['in the dark', { colorScheme: 'dark' as const }],
  ] as const) {
    it(`shows every page of the service and the admin whole ${name}`, async () => {
      const { page, problems } = await openPage(browser, options);
      await setUp(page, site);
      await page.getByRole('button', { name: /sandbox/i }).click();
      await shownCommand(page);
      for (const path of ['/', '/admin/', '/admin/svc', '/admin/sandbox', '/admin/plugins', '/nowhere']) {
        await page.goto(site.url + path);
        expect([path, await overflow(page)]).to.deep.equal([path, 0]);
        expect([path, await accessibilityViolations(page)]).to.deep.equal([path, []]);
      }
      expect(problems.filter((problem) => !problem.includes('404'))).to.deep.equal([]);
    });
  }
});
