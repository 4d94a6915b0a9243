import { expect } from 'chai';
import { createPluginImporter } from '../../host/loader/load.ts';
import { readManifest } from '../../host/loader/manifest.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { createPluginFolders, type PluginFolders } from '../loader/helpers/plugin-folders.ts';

describe('modules of plugins', () => {
  let folders: PluginFolders;
  beforeEach(async () => {
    folders = await createPluginFolders();
  });
  afterEach(() => folders.remove());

  const load = async (files: Readonly<Record<string, string>>): Promise<unknown> => {
    const directory = await folders.write('sample', { files });
    const source = await readManifest({ directory, folder: 'sample', hostVersion: '1.0.0' });
    if (source === null) throw new Error('There is no manifest.');
    return createPluginImporter().load(source);
  };
  const register = async (files: Readonly<Record<string, string>>): Promise<unknown> =>
    ((await load(files)) as { register(): unknown }).register();

  it('in TypeScript are found as TypeScript finds them, whatever the package.json says', async () => {
    for (const manifest of ['{"type":"module"}', '{"type":"commonjs"}', '{}'])
      expect(
        await register({
          'index.ts': `import { one } from './one'; import { two } from './two.js'; import { three } from './three'; import data from './data.json';
            export default { register: (): unknown => [one, two, three, data] };`,
          'one.ts': 'export const one: number = 1;',
          'two.ts': 'export const two: number = 2;',
          'three/index.ts': 'export const three: number = 3;',
          'data.json': '{"four":4}',
          'package.json': manifest,
        }),
        manifest,
      ).to.deep.equal([1, 2, 3, { four: 4 }]);
  });

  it('keep import.meta, packages, imports by name, and the lines of errors', async () => {
    const found = (await register({
      'index.ts': `import { readFileSync } from 'node:fs';
        import { text } from 'dependency';
        interface Ignored { readonly name: string }
        export default { async register(): Promise<unknown> {
          const parts = await Promise.all(['one', 'two'].map((name: Ignored['name']) => import(\`./parts/\${name}.part.ts\`)));
          return [readFileSync(new URL('./hello.txt', import.meta.url), 'utf8'), text, parts.map(({ part }) => part), new Error('here').stack];
        } };`,
      'parts/one.part.ts': 'export const part: number = 1;',
      'parts/two.part.ts': 'export const part: number = 2;',
      'hello.txt': 'hello',
      'node_modules/dependency/package.json': '{"name":"dependency","type":"module","exports":"./main.js"}',
      'node_modules/dependency/main.js': `export const text = 'package';`,
    })) as unknown[];
    expect(found.slice(0, 3)).to.deep.equal(['hello', 'package', [1, 2]]);
    expect(found[3]).to.match(/sample\/index\.ts:6:\d+/);
  });

  it('share the classes of the host, also where a package has names of its own that begin with #', async () => {
    const { RestError } = await import('#plugin-api');
    const names = '{"name":"dependency","type":"module","exports":"./main.js","imports":{"#testing":"./own.js"}}';
    expect(
      await register({
        'index.ts': `import { RestError } from '#plugin-api'; import { own } from 'dependency'; export default { register: () => [RestError, own] };`,
        'node_modules/dependency/package.json': names,
        'node_modules/dependency/main.js': `export { own } from '#testing';`,
        'node_modules/dependency/own.js': `export const own = 'own';`,
      }),
    ).to.deep.equal([RestError, 'own']);
  });

  for (const [what, files, expected] of [
    [
      'invalid JavaScript',
      {
        'index.js': `import './lib/broken.js'; export default {};`,
        'lib/broken.js': 'export default {\n  a: 1,\n  register( {} };',
      },
      /^Unexpected token '}' \(.*sample\/lib\/broken\.js:3\)$/,
    ],
    ['invalid code', { 'index.ts': 'export default {\n  register( {} };' }, /^Expected .* \(.*sample\/index\.ts:2\)$/],
    [
      'an enum, which is more than a type',
      {
        'index.ts': `import './color.ts'; export default { register() {} };`,
        'color.ts': '\nexport enum Color { Red }',
      },
      /enum is not supported.*write constants instead of enums.*sample\/color\.ts:2\)$/,
    ],
    [
      'a type that is imported as a value',
      {
        'index.ts': `import { Item } from './item.ts'; export default { register(_: Item) {} };`,
        'item.ts': 'export interface Item {}',
      },
      /export named 'Item'\. If it is a type, write import type \(.*sample\/index\.ts:1\)$/,
    ],
    [
      'a file that is missing',
      { 'index.ts': `import './gone'; export default {};` },
      /Cannot find module '.*sample\/gone'/,
    ],
  ] as const)
    it(`name file and remedy of ${what}`, async () => {
      expect(((await failureOf(load(files))) as Error).message).to.match(expected);
    });
});
