import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { checkout, startSite } from '../helpers/running-site.ts';

/**
 * Own modules that each may load (D37). Raise it for what every start needs; what a page, a command or a call does is loaded by its
 * first use (`lazy`, `lazyPages`, `lazyCommands`).
 */
const allowed = { start: 690, command: 595 };
/** What no start and no command like `option get` needs, by the ends of the files' names. */
const never: readonly RegExp[] = [
  /\.page\.ts$/,
  /^host\/(pages\/|admin\/.*-page\.ts$)/,
  /node_modules\/(esbuild|ajv|handlebars|openai|@anthropic-ai|@opentelemetry|@google|@pinecone-database|@qdrant|chromadb)\//,
  /node_modules\/(undici|pg|@node-rs|prom-client|sanitize-html|@simplewebauthn|@modelcontextprotocol|@aws-sdk|zod|piscina)\//,
];
const onlyCommands: readonly RegExp[] = [/-commands\.ts$/, /^host\/cli\/(?!registry)/, /node_modules\/commander\//];
const onlyServers: readonly RegExp[] = [/node_modules\/(express|helmet|body-parser|send)\//, /^host\/web-server\.ts$/];

describe('the modules', () => {
  let directory = '';
  /** What `run` loads, given the environment that notes it. */
  const note = async (run: (env: Readonly<Record<string, string>>) => Promise<unknown>): Promise<string[]> => {
    const file = join(directory, `modules-${randomUUID()}.txt`);
    const preload = pathToFileURL(join(checkout, 'tests/helpers/note-modules.mjs')).href;
    await run({ NODE_OPTIONS: `--import ${preload}`, MODULES_FILE: file });
    const root = pathToFileURL(checkout).href;
    const lines = (await readFile(file, 'utf8')).split('\n').filter((url) => url.startsWith(root));
    // `node_modules` may be a link to a folder elsewhere.
    const names = lines.map((url) => url.replace(/^.*(?=\/node_modules\/)/, root).slice(root.length));
    return [...new Set(names.map((name) => name.replace(/^\//, '')))];
  };
  const ownOf = (loaded: readonly string[]): string[] =>
    loaded.filter((path) => !path.startsWith('node_modules/') && !path.startsWith('tests/')).sort();
  const matching = (loaded: readonly string[], patterns: readonly RegExp[]): string[] =>
    loaded.filter((path) => patterns.some((pattern) => pattern.test(path)));
  before(async () => void (directory = await mkdtemp(join(tmpdir(), 'svc-modules-'))));
  after(() => rm(directory, { recursive: true, force: true }));

  it('that a start loads are few, and none that a page, a command or a call needs', async () => {
    const loaded = await note(async (env) => (await startSite(env)).stop());
    const own = ownOf(loaded);
    expect(own).to.include('host/web-server.ts');
    expect(matching(loaded, [...never, ...onlyCommands])).to.deep.equal([]);
    expect(own.length, own.join('\n')).to.be.at.most(allowed.start);
  }).timeout(120_000);

  it('that calls to a configured provider need are loaded after the start, before a request waits for them', async () => {
    const DATA_DIR = join(directory, 'configured');
    const first = await startSite({ DATA_DIR });
    await first.cli('plugin', 'activate', 'svc');
    await first.cli('svc', 'provider', 'set', 'claude', '--api-key=a-key');
    await first.stop();
    const loaded = await note(async (env) => {
      const site = await startSite({ ...env, DATA_DIR, LOG_LEVEL: 'debug' });
      await site.waitFor(/"event":"providers_loaded"/);
      await site.stop();
    });
    expect(matching(loaded, [/node_modules\/@anthropic-ai\/sdk\/client/])).to.not.deep.equal([]);
    expect(matching(loaded, [/node_modules\/(openai|@google)\//])).to.deep.equal([]);
  }).timeout(120_000);

  it('that a command loads are few, and none of the server', async () => {
    const loaded = await note((env) =>
      promisify(execFile)(process.execPath, ['host/cli/main.js', 'option', 'get', 'blogname'], {
        cwd: checkout,
        env: { ...process.env, ...env, DATA_DIR: join(directory, 'data') },
      }),
    );
    const own = ownOf(loaded);
    expect(own).to.include('host/cli/run.ts');
    expect(matching(loaded, [...never, ...onlyServers])).to.deep.equal([]);
    expect(own.length, own.join('\n')).to.be.at.most(allowed.command);
  }).timeout(120_000);
});
