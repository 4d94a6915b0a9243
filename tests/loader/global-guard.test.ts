import { IncomingMessage, OutgoingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { createTestHost } from '#testing';
import { createLoaderBench } from './helpers/loader-bench.ts';
import { createPluginFolders } from './helpers/plugin-folders.ts';

describe('a plugin that replaces what the whole process uses', () => {
  for (const [title, at] of [
    ['when it is imported', (code: string) => `${code} export default { register() {} };`],
    ['in register', (code: string) => `export default { register() { ${code} } };`],
    ['later in register', (code: string) => `export default { async register() { await null; ${code} } };`],
  ] as const)
    it(`is named, and the original is restored, ${title}`, async () => {
      const { parse } = JSON;
      const { map } = Array.prototype;
      const { fetch } = globalThis;
      const bench = await createLoaderBench();
      try {
        const code = `JSON.parse = () => 'taken'; Array.prototype.map = () => 'taken'; globalThis.fetch = () => 'taken';`;
        await bench.folders.write('taker', { files: { 'index.js': at(code) } });
        await bench.loader.start();
        await bench.loader.activate('taker');
        expect([JSON.parse, Array.prototype.map, globalThis.fetch]).to.deep.equal([parse, map, fetch]);
        const [warning] = bench.status('taker').warnings;
        expect(warning).to.match(/^It replaced fetch, JSON\.parse, Array\.prototype\.map, which/);
      } finally {
        Object.assign(JSON, { parse });
        Object.assign(Array.prototype, { map });
        Object.assign(globalThis, { fetch });
        await bench.folders.remove();
      }
    });

  const shared: readonly (readonly [name: string, holder: object, key: string])[] = [
    ['http.ServerResponse.prototype.end', ServerResponse.prototype, 'end'],
    ['http.ServerResponse.prototype.writeHead', ServerResponse.prototype, 'writeHead'],
    ['http.OutgoingMessage.prototype.end', OutgoingMessage.prototype, 'end'],
    ['http.OutgoingMessage.prototype.headersSent', OutgoingMessage.prototype, 'headersSent'],
    ['http.IncomingMessage.prototype.setTimeout', IncomingMessage.prototype, 'setTimeout'],
    ['net.Socket.prototype.write', Socket.prototype, 'write'],
    ['stream.Readable.prototype.pipe', Readable.prototype, 'pipe'],
    ['Promise.prototype.then', Promise.prototype, 'then'],
    ['Map.prototype.get', Map.prototype, 'get'],
    ['Map.groupBy', Map, 'groupBy'],
    ['Object.keys', Object, 'keys'],
    ['Object.prototype.toJSON', Object.prototype, 'toJSON'],
    ['Object.prototype.get', Object.prototype, 'get'],
    ['Reflect.getOwnPropertyDescriptor', Reflect, 'getOwnPropertyDescriptor'],
  ];
  const imports = `import { IncomingMessage, OutgoingMessage, ServerResponse } from 'node:http';
    import { Socket } from 'node:net';
    import { Readable } from 'node:stream';`;
  const replace = (name: string, key: string): string =>
    `Object.defineProperty(${name.slice(name.search(/[A-Z]/), -key.length - 1)}, '${key}', {
      value: () => undefined, configurable: true, writable: true });`;

  for (const [name, holder, key] of shared)
    it(`goes on to answer, and names it: ${name}`, async () => {
      const original = Object.getOwnPropertyDescriptor(holder, key);
      const folders = await createPluginFolders();
      const register = `export default { register() { ${replace(name, key)} } };`;
      await folders.write('taker', { files: { 'index.js': `${imports} ${register}` } });
      const host = await createTestHost({ plugins: ['taker'], pluginDirs: [folders.directory] });
      try {
        expect(Object.getOwnPropertyDescriptor(holder, key)).to.deep.equal(original);
        const response = await host.fetch('/');
        expect([response.status, (await response.text()).length > 100]).to.deep.equal([200, true]);
        const { warnings = [] } = host.plugins.list().find(({ slug }) => slug === 'taker') ?? {};
        expect(warnings).to.deep.equal([
          `It replaced ${name}, which the whole process uses, so the original was restored. Use a function of your own.`,
        ]);
      } finally {
        if (original) Object.defineProperty(holder, key, original);
        else Reflect.deleteProperty(holder, key);
        await host.stop();
        await folders.remove();
      }
    });

  it('is restored after activate and deactivate as well', async () => {
    const bench = await createLoaderBench();
    const { get } = Map.prototype;
    const code = (sign: string): string => `Map.prototype.get = () => '${sign}';`;
    await bench.folders.write('taker', {
      files: {
        'index.js': `export default { register() {}, activate() { ${code('a')} }, deactivate() { ${code('d')} } };`,
      },
    });
    try {
      await bench.loader.start();
      await bench.loader.activate('taker');
      expect(Map.prototype.get).to.equal(get);
      expect(bench.status('taker').warnings.join()).to.match(/^It replaced Map\.prototype\.get, which/);
      await bench.loader.deactivate('taker');
      expect(Map.prototype.get).to.equal(get);
    } finally {
      Object.assign(Map.prototype, { get });
      await bench.folders.remove();
    }
  });

  it('and locks it is named, with what to do', async () => {
    const bench = await createLoaderBench();
    // Locked for good in this process, by a function that does the same.
    const { hypot } = Math;
    Object.assign(globalThis, { sameHypot: (...values: number[]) => hypot(...values) });
    const lock = `Object.defineProperty(Math, 'hypot', { value: globalThis.sameHypot, configurable: false, writable: false });`;
    await bench.folders.write('taker', { files: { 'index.js': `export default { register() { ${lock} } };` } });
    try {
      await bench.loader.start();
      await bench.loader.activate('taker');
      expect(bench.status('taker').warnings).to.deep.equal([
        'It replaced Math.hypot, which the whole process uses, and locked it. Deactivate the plugin and restart the site.',
      ]);
    } finally {
      await bench.folders.remove();
    }
  });
});
