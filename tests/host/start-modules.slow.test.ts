import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { checkout, startSite } from '../helpers/running-site.ts';

/** Own modules a start may load. Raise it for what every start needs; what a page, a command or a call does is loaded by its first use (`lazy`, `lazyPages`, `lazyCommands`). */
// 630 since dry runs: whether one runs is asked by what every start loads.
// 631 since providers and vector stores share one registry and the fields of their forms.
// 5 more since traces and translations: a request may ask for a trace, and every plugin has texts.
// 1 more since processes hold the plugins that they run, so that no other one uninstalls them.
// 3 more since totals of usage: their route, its filters, and the counters of calls by caller.
// 2 more since providers that plugins describe, and forms of automations by schemas.
// 1 more since starts note which plugin is starting, for the next one if this one ends.
// 1 more since OpenTelemetry: whether a provider is registered is asked at each request.
// 2 more since questions before actions, and data that models return,
// 2 more since the language of a request, and the catalogs that the setting of the site may ask for.
// 4 more since helpers that several modules had of their own: times of a place, schemas of REST, reads of tables, time limits.
const allowed = 654;
/** What is on no start's way, by the ends of the files' names. */
const never: readonly RegExp[] = [
  /\.page\.ts$/,
  /-commands\.ts$/,
  /^host\/(pages|cli\/(?!registry))/,
  /-page\.ts$/,
  /node_modules\/(esbuild|ajv|handlebars|openai|@anthropic-ai|@opentelemetry|@google|@pinecone-database|@qdrant|chromadb|undici|pg|argon2|commander|prom-client)\//,
];

describe('the modules that a start loads', () => {
  let directory = '';
  let loaded: string[] = [];
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
  before(async function () {
    this.timeout(240_000);
    directory = await mkdtemp(join(tmpdir(), 'svc-modules-'));
    loaded = await note(async (env) => (await startSite(env)).stop());
  });
  after(() => rm(directory, { recursive: true, force: true }));

  it(`are at most ${String(allowed)} of our own`, () => {
    const own = loaded.filter((path) => !path.startsWith('node_modules/') && !path.startsWith('tests/'));
    expect(own.length, 'too few to be true').to.be.above(200);
    expect(own.length, own.sort().join('\n')).to.be.at.most(allowed);
  });

  it('are none of those that a page, a command or a call needs', () => {
    expect(loaded.filter((path) => never.some((pattern) => pattern.test(path)))).to.deep.equal([]);
  });

  it('are without the server if a command starts', async () => {
    const command = await note((env) =>
      promisify(execFile)(process.execPath, ['host/cli/main.js', 'option', 'get', 'blogname'], {
        cwd: checkout,
        env: { ...process.env, ...env, DATA_DIR: join(directory, 'data') },
      }),
    );
    expect(command).to.include('host/cli/run.ts');
    expect(
      command.filter((path) => /node_modules\/(express|helmet)\/|^host\/web-server\.ts$/.test(path)),
    ).to.deep.equal([]);
  }).timeout(60_000);
});
