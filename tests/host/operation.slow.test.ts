import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTestHost } from '#testing';
import { describeHosts } from '../helpers/dialects.ts';
import { runCli, startSite, type RunningSite } from '../helpers/running-site.ts';

/** Asks until the answer fits; the test's own time limit ends it. */
async function until<Value>(ask: () => Promise<Value>, fits: (value: Value) => boolean): Promise<Value> {
  for (;;) {
    const value = await ask();
    if (fits(value)) return value;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

describeHosts('a running site', ({ location }) => {
  let site: RunningSite;
  const environment = (): Record<string, string> => ({
    ...(location().databaseUrl && { DATABASE_URL: location().databaseUrl ?? '' }),
  });
  const generate = (key: string): Promise<Response> =>
    fetch(`${site.url}/wp-json/svc/v1/generate`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ provider: 'openai', model: 'any', messages: [{ role: 'user', content: 'echo: hello' }] }),
    });

  afterEach(() => site.stop());

  it('creates its first administrator, prints in the language of the terminal and reports its health', async function () {
    this.timeout(240_000);
    site = await startSite({
      ...environment(),
      ADMIN_USER: 'ada',
      ADMIN_PASSWORD: 'correct horse',
      ADMIN_EMAIL: 'ada@example.com',
      LANG: 'de_DE.UTF-8',
    });
    expect(site.output())
      .to.match(/^Bereit unter http:\S+ \(\w+, [\d.]+ ms\)$/m)
      .and.not.include('Website einrichten:');
    expect(await (await fetch(`${site.url}/healthz`)).json()).to.deep.equal({ status: 'ok' });
    expect(await (await fetch(`${site.url}/readyz`)).json()).to.deep.equal({
      status: 'ready',
      checks: { database: 'ok', storage: 'ok', migrations: 'ok', plugins: 'ok', version: 'ok', secrets: 'ok' },
    });
    expect(await (await fetch(`${site.url}/metrics`)).text()).to.include('# TYPE');
    expect(JSON.parse(await site.cli('user', 'list', '--json'))).to.have.nested.property('[0].login', 'ada');
    expect(await site.cli('doctor')).to.match(/^Administrator +in Ordnung +vorhanden$/m);
  });

  it('sees what the command line changes', async function () {
    this.timeout(240_000);
    site = await startSite(environment());
    expect((await generate('any')).status).to.equal(401);
    const { key } = JSON.parse(await site.cli('svc', 'key', 'generate', '--json')) as { key: string };
    await until(
      () => generate(key),
      ({ status }) => status === 400,
    );
    await site.cli('svc', 'sandbox', 'on');
    const answered = await until(
      () => generate(key),
      ({ status }) => status === 200,
    );
    expect(await answered.json()).to.include({ content: 'hello', provider: 'OpenAI' });
    await site.cli('plugin', 'activate', 'hello');
    const greeted = await until(
      () => fetch(`${site.url}/wp-json/hello/v1/greet/ada`),
      ({ status }) => status === 200,
    );
    expect(await greeted.text()).to.include('ada');
    await site.cli('plugin', 'deactivate', 'hello');
    await until(
      () => fetch(`${site.url}/wp-json/hello/v1/greet/ada`),
      ({ status }) => status === 404,
    );
    await site.cli('svc', 'key', 'clear');
    await until(
      () => generate(key),
      ({ status }) => status === 401,
    );
  });

  it('ends cleanly on SIGTERM and comes back with its data', async function () {
    this.timeout(240_000);
    site = await startSite({ ...environment(), DATA_DIR: location().dataDir });
    await site.cli('option', 'set', 'blogname', 'Kept');
    const code = await site.stop();
    expect(code).to.equal(0);
    if (location().databaseUrl === null) return;
    site = await startSite(environment());
    expect(((await (await fetch(`${site.url}/wp-json/`)).json()) as { name: string }).name).to.equal('Kept');
  });
});

describe('a site that cannot start', () => {
  const start = (env: Record<string, string>): Promise<string> =>
    startSite(env).then(
      () => '',
      (error: unknown) => String(error),
    );

  it('says which variables are wrong, in sentences', async () => {
    const said = await start({ PORT: 'http', ROLE: 'boss' });
    expect(said).to.include("PORT is 'http'").and.to.include("ROLE is 'boss'");
    expect(said).not.to.include('at readConfig');
  });

  it('says that its port is in use', async () => {
    const host = await createTestHost();
    try {
      expect(await start({ PORT: new URL(host.url).port })).to.match(/Port \d+ is in use/);
    } finally {
      await host.stop();
    }
  });

  it('says what to do about a database that does not respond', async () => {
    const said = await start({ DATABASE_URL: 'postgres://someone:hush-hush@127.0.0.1:9/none' });
    expect(said)
      .to.match(/database/i)
      .and.not.to.include('hush-hush');
  });

  it('refuses a command it does not know with exit code 1', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'svc-cli-'));
    const said = await runCli(['plugin', 'explode'], { ...process.env, DATA_DIR: directory }).then(
      () => '',
      (error: unknown) => String(error),
    );
    await rm(directory, { recursive: true });
    expect(said).to.include("unknown command 'explode'");
  });
});
