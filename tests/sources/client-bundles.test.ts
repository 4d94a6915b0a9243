import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { builtFiles, createClientBundle } from '#plugin-api';
import {
  buildClientBundle,
  bundleForClients,
  findClientBundles,
  stopBuilding,
} from '../../host/sources/client-bundles.ts';
import { root } from '../../host/sources/files.ts';
import { failureOf } from '../helpers/failure-of.ts';

describe('scripts and styles for browsers', () => {
  let directory = '';
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bundles-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));
  after(stopBuilding);

  it('are built from the sources as they are: run npm run build after a change', async () => {
    const found = (await Promise.all(['host', 'plugins'].map((name) => findClientBundles(join(root, name))))).flat();
    expect(found).to.have.length.of.at.least(4);
    for (const { init } of found) {
      const built = await bundleForClients(init);
      for (const name of ['script', 'styles'] as const)
        expect((await readFile(builtFiles(init)[name])).equals(built[name]), builtFiles(init)[name]).to.equal(true);
    }
  });

  it('name the version of a script that they load, which is built first', async () => {
    const file = (name: string): string => join(directory, name);
    await writeFile(file('all.css'), 'p { color: red; }');
    await writeFile(file('window.ts'), 'const text: string = "window"; alert(text);');
    await writeFile(file('button.ts'), 'declare const windowVersion: string; alert(windowVersion);');
    const window = createClientBundle({ script: file('window.ts'), styles: file('all.css') });
    const button = createClientBundle({
      ...{ script: file('button.ts'), styles: file('all.css') },
      versions: { windowVersion: window },
    });
    expect(await failureOf(button())).to.match(/button\.js cannot be read\. Run "npm run build"/);
    expect(await buildClientBundle(button)).to.have.length(4);
    expect(String((await button()).script.content)).to.contain((await window()).script.hash);
    expect(await buildClientBundle(button), 'what is as before').to.deep.equal([]);
  });

  it('are not built from invalid code, whose file and line the error names', async () => {
    await writeFile(join(directory, 'broken.ts'), 'const = 1;');
    await writeFile(join(directory, 'all.css'), '');
    const bundle = createClientBundle({ script: join(directory, 'broken.ts'), styles: join(directory, 'all.css') });
    expect(await failureOf(buildClientBundle(bundle))).to.match(/broken\.ts:1:6/);
  });
});
