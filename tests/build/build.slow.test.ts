import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, realpath, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { createBuild } from '../../host/build/build.js';
import { createPluginFolders, type PluginFolders } from '../loader/helpers/plugin-folders.ts';

const buildModule = fileURLToPath(new URL('../../host/build/build.js', import.meta.url));

const typed = {
  'index.ts': `import { shout } from './shout.ts';
export default { register(): string { return shout('one'); } };`,
  'shout.ts': `interface Ignored {
  readonly text: string;
}
export function shout(text: Ignored['text']): string {
  if (text === 'throw') throw new Error('Thrown on line 5');
  return text.toUpperCase();
}`,
};

describe('compiled plugins', () => {
  let folders: PluginFolders;
  let cacheFolder = '';
  beforeEach(async () => {
    folders = await createPluginFolders();
    cacheFolder = await realpath(await mkdtemp(join(tmpdir(), 'compiled-')));
  });
  afterEach(async () => {
    await folders.remove();
    await rm(cacheFolder, { recursive: true, force: true });
  });

  const write = (files: Readonly<Record<string, string>>, slug = 'sample'): Promise<string> =>
    folders.write(slug, { files });
  const compile = async (directory: string, main = 'index.ts', folder = cacheFolder): Promise<string> => {
    const compiled = await createBuild({ cacheFolder: folder }).compilePlugin({
      directory,
      entry: join(directory, main),
    });
    if (compiled === null) throw new Error('The plugin was not compiled.');
    return fileURLToPath(compiled.entry);
  };
  const call = async (path: string): Promise<unknown> =>
    ((await import(path)) as { default: { register(): unknown } }).default.register();

  it('run as JavaScript that Node loads without help', async () => {
    const entry = await compile(await write(typed));
    const script = `const { default: plugin } = await import(${JSON.stringify(entry)}); console.log(plugin.register());`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    expect(stdout).to.equal('ONE\n');
  });

  it('are found again while no source changes, also when one was touched', async () => {
    const directory = await write(typed);
    const first = await compile(directory);
    expect(await compile(directory)).to.equal(first);
    await utimes(join(directory, 'shout.ts'), 1, 1);
    expect(await compile(directory)).to.equal(first);
  });

  it('are compiled again when a source changes, appears or disappears, and found again when it is as before', async () => {
    const directory = await write(typed);
    const first = await compile(directory);
    await write({ ...typed, 'shout.ts': `export const shout = (text: string): string => text + '!';` });
    const second = await compile(directory);
    expect([await call(first), await call(second)]).to.deep.equal(['ONE', 'one!']);
    await write(typed);
    expect(await compile(directory)).to.equal(first);
    await write({ ...typed, 'more.ts': 'export {};' });
    expect(await compile(directory)).not.to.equal(first);
    await rm(join(directory, 'more.ts'));
    expect(await compile(directory)).to.equal(first);
  });

  it('can be compiled by several processes at once', async () => {
    const directory = await write(typed);
    const entries = await Promise.all(Array.from({ length: 4 }, () => compile(directory)));
    expect(new Set(entries).size).to.equal(1);
    expect(await call(entries[0]!)).to.equal('ONE');
    const [unit = ''] = (await readdir(cacheFolder)).filter((name) => name.startsWith('sample'));
    expect((await readdir(join(cacheFolder, unit))).filter((name) => name.startsWith('.'))).to.deep.equal([]);
  });

  it('are compiled again if what was compiled is damaged or missing', async () => {
    const directory = await write(typed);
    const first = await compile(directory);
    await rm(join(first, '..'), { recursive: true });
    expect(await call(await compile(directory))).to.equal('ONE');
    await writeFile(join(first, '../../last.json'), 'half a fi');
    expect(await compile(directory)).to.equal(first);
  });

  it('keep the versions that were used last', async () => {
    const directory = await write(typed);
    const first = await compile(directory);
    for (let version = 0; version < 12; version += 1) {
      await write({ ...typed, 'shout.ts': `export const shout = (): number => ${String(version)};` });
      await compile(directory);
    }
    const versions = (await readdir(join(first, '../..'))).filter((name) => /^[0-9a-f]{32}$/.test(name));
    expect(versions).to.have.length(10);
  });

  it('find assets, folders, packages and modules for threads as their sources do', async () => {
    const directory = await write({
      'index.ts': `import { readFileSync } from 'node:fs';
        import { text } from 'dependency';
        const asset: string = readFileSync(new URL('./assets/hello.txt', import.meta.url), 'utf8');
        const names = ['one', 'two'];
        export default { async register(): Promise<unknown> {
          const parts = await Promise.all(names.map((name) => import(\`./parts/\${name}.part.ts\`)));
          const { read } = await import(new URL('./hello.reader.ts', import.meta.url).href);
          return [asset, text, import.meta.dirname, parts.map(({ part }) => part), read()];
        } };`,
      'hello.reader.ts': `export const read = (): string => 'read';`,
      'parts/one.part.ts': `export const part: number = 1;`,
      'parts/two.part.ts': `export const part: number = 2;`,
      'assets/hello.txt': 'hello',
      'node_modules/dependency/package.json': '{"name":"dependency","type":"module","exports":"./main.js"}',
      'node_modules/dependency/main.js': `export const text = 'package';`,
    });
    const script = `const { default: plugin } = await import(${JSON.stringify(await compile(directory))});
      console.log(JSON.stringify(await plugin.register()));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    expect(JSON.parse(stdout)).to.deep.equal(['hello', 'package', `${directory}/`, [1, 2], 'read']);
  });

  it('load what they always need from one file, and share its state with what they load later', async () => {
    const directory = await write({
      'index.ts': `import { log } from './log.ts'; import { add } from './add.ts';
        export default { async register(): Promise<unknown> {
          add('index');
          for (const name of ['one', 'two']) (await import(\`./\${name}.later.ts\`)).run();
          return log;
        } };`,
      'log.ts': 'export const log: string[] = [];',
      'add.ts': `import { log } from './log.ts'; export default 0; export const add = (name: string): void => void log.push(name);`,
      'one.later.ts': `import zero, { add } from './add.ts'; import { own } from './own.ts'; export const run = (): void => add(own + zero);`,
      'two.later.ts': `import { log } from './log.ts'; import { own } from './own.ts'; export const run = (): void => void log.push(own);`,
      'own.ts': `import { log } from './log.ts'; log.push('own'); export const own: string = 'later';`,
    });
    const entry = await compile(directory);
    expect(await call(entry)).to.deep.equal(['index', 'own', 'later0', 'later']);
    const loaded = [...(await readFile(entry, 'utf8')).matchAll(/from"\.\/([^"]+)"/g)].map(([, name]) => name);
    expect(loaded).to.deep.equal(['group-0.mjs']);
    expect(await readFile(join(entry, '../group-0.mjs'), 'utf8')).not.to.match(/from"\.\//);
  });

  it('have stacks with the lines of their sources', async () => {
    const entry = await compile(await write({ ...typed, 'index.ts': typed['index.ts'].replace("'one'", "'throw'") }));
    const script = `const { default: plugin } = await import(${JSON.stringify(entry)}); plugin.register();`;
    const error: unknown = await promisify(execFile)(process.execPath, [
      ...['--enable-source-maps', '--input-type=module', '-e', script],
    ]).catch((cause: unknown) => cause);
    expect((error as { stderr: string }).stderr).to.match(/at .*shout\.ts:5:\d+/);
  });

  it('name file and line of an error', async () => {
    const directory = await write({ 'index.ts': 'export default {\n  register( {} };' });
    const error: unknown = await compile(directory).catch((cause: unknown) => cause);
    expect((error as Error).message).to.match(/^Expected .*index\.ts:2:\d+\)$/);
  });

  it('refuse TypeScript of other plugins, whose changes they would not follow', async () => {
    await write({ 'index.ts': 'export const other: number = 1;' }, 'other');
    const directory = await write({ 'index.ts': `import { other } from '../other/index.ts'; export default other;` });
    const error: unknown = await compile(directory).catch((cause: unknown) => cause);
    expect((error as Error).message).to.contain('../other/index.ts is outside of the plugin');
  });

  it('are those that Node cannot load alone', async () => {
    const needs = async (files: Readonly<Record<string, string>>): Promise<boolean> => {
      const directory = await write(files, 'other');
      const entry = join(directory, Object.keys(files)[0]!);
      const compiled = await createBuild({ cacheFolder }).compilePlugin({ directory, entry });
      await rm(directory, { recursive: true });
      return compiled !== null;
    };
    expect(await needs({ 'index.js': 'export default {};', 'source.ts': '' })).to.equal(false);
    expect(await needs({ 'index.cjs': 'module.exports = {};' })).to.equal(false);
    expect(await needs({ 'index.js': `import { RestError } from '#plugin-api'; export default RestError;` })).to.equal(
      true,
    );
    expect(
      await needs({
        'index.js': `import { x } from './x.ts'; export default x;`,
        'x.ts': 'export const x: number = 1;',
      }),
    ).to.equal(true);
  });

  it('are compiled for one process where nothing can be stored, which says what to do', async () => {
    const file = join(cacheFolder, 'file');
    await writeFile(file, '');
    const directory = await write(typed);
    const script = `import { createBuild } from ${JSON.stringify(buildModule)};
      const build = createBuild({ cacheFolder: ${JSON.stringify(join(file, 'cache'))} });
      const plugin = ${JSON.stringify({ directory, entry: join(directory, 'index.ts') })};
      const [first, second] = [await build.compilePlugin(plugin), await build.compilePlugin(plugin)];
      const { default: sample } = await import(first.entry);
      console.log(JSON.stringify([sample.register(), first.entry.href === second.entry.href, first.entry.href]));`;
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    const [result, isSame, url] = JSON.parse(stdout) as [string, boolean, string];
    expect([result, isSame]).to.deep.equal(['ONE', true]);
    expect(stderr).to.match(/^Compiled code cannot be stored in .*\(ENOTDIR\).*npm run build\n$/);
    expect(await readFile(fileURLToPath(url)).catch(() => 'removed')).to.equal('removed');
  });
});
