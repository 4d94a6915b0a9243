import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { createTestHost } from '#testing';
import { checkout } from '../helpers/running-site.ts';

const code = (types: boolean): string => `import { RestError, RestResponse } from '#plugin-api';
import { word } from './lib/word.${types ? 'ts' : 'js'}';
const late = await Promise.resolve(word);
export default {
  register(host${types ? `: import('#plugin-api').HostApi` : ''}) {
    host.rest.registerRoute('sample/v1', '/word', {
      permission: () => true,
      handler: () => new RestResponse({ body: { late, isShared: RestError === host.api.RestError }, status: 201 }),
    });
  },
};
`;
const test = (types: boolean): string => `import test from 'node:test';
import assert from 'node:assert/strict';
import { RestResponse } from '#plugin-api';
import { createFakeClock, createTestHost } from '#testing';

test('the route responds', async () => {
  const clock${types ? `: import('#plugin-api').Clock` : ''} = createFakeClock({ skipSleeps: true });
  const host = await createTestHost({ pluginDirs: [process.env.FOLDER${types ? ' as string' : ''}], plugins: ['sample'], clock });
  const response = await host.rest.dispatch('/sample/v1/word');
  assert.ok(response instanceof RestResponse);
  assert.deepEqual([response.status, response.body], [201, { late: 'word', isShared: true }]);
  await host.stop();
});
`;
const files = (types: boolean): Record<string, string> => {
  const ending = types ? 'ts' : 'js';
  return {
    [`index.${ending}`]: code(types),
    [`lib/word.${ending}`]: `import { RestError } from '#plugin-api';
      export const word${types ? ': string' : ''} = RestError.name === 'RestError' ? 'word' : '';\n`,
    [`tests/sample.test.${ending}`]: test(types),
  };
};
const packages: Readonly<Record<string, string | null>> = {
  'without a package.json': null,
  'with a package.json of its own': '{"name":"sample","type":"module","dependencies":{}}',
  'with a package.json that says nothing of modules': '{}',
};

describe('#plugin-api and #testing', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'svc-resolve-')));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function write(types: boolean, manifest: string | null): Promise<string> {
    const all = {
      ...files(types),
      'plugin.json': JSON.stringify({ slug: 'sample', name: 'Sample', version: '1.0.0', host: '^1' }),
      ...(manifest !== null && { 'package.json': manifest }),
    };
    for (const [file, text] of Object.entries(all)) {
      await mkdir(dirname(join(folder, 'sample', file)), { recursive: true });
      await writeFile(join(folder, 'sample', file), text);
    }
    return join(folder, 'sample');
  }

  for (const types of [true, false])
    for (const [title, manifest] of Object.entries(packages)) {
      const kind = `a plugin in ${types ? 'TypeScript' : 'JavaScript'} ${title}`;

      it(`resolve in ${kind}`, async () => {
        await write(types, manifest);
        const host = await createTestHost({ plugins: ['sample'], pluginDirs: [folder] });
        try {
          const response = await host.fetch('/wp-json/sample/v1/word');
          expect([response.status, await response.json()]).to.deep.equal([201, { late: 'word', isShared: true }]);
        } finally {
          await host.stop();
        }
      });

      // One of each: a process each takes a second.
      if (types !== (manifest === null)) continue;
      it(`resolve in the tests of ${kind}`, async () => {
        const directory = await write(types, manifest);
        await promisify(execFile)(
          process.execPath,
          [
            ...['--import', join(checkout, 'host', 'testing', 'register.js'), '--test'],
            join(directory, 'tests', `sample.test.${types ? 'ts' : 'js'}`),
          ],
          { env: { ...process.env, NODE_OPTIONS: '', FOLDER: folder }, cwd: folder },
        ).catch((error: unknown) => {
          throw new Error((error as { stdout: string }).stdout);
        });
      }).timeout(120_000);
    }
});
