import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { fileURLToPath } from 'node:url';
import { createViews } from '../../host/views/views.ts';

describe('the components of the admin', () => {
  const views = createViews({ directories: [fileURLToPath(new URL('../../views', import.meta.url))] });

  it('show progress whose parts all failed without a bar of success', async () => {
    const init = { label: 'Written', max: 3, text: '0 of 3 done, 3 failed', split: true };
    const bars = async (succeeded: number): Promise<readonly string[]> =>
      (await views.render('admin/progress', { ...init, value: 3, succeeded })).match(/<progress[^>]+>/g) ?? [];
    expect(await bars(0)).to.deep.equal([
      '<progress value="3" max="3" aria-label="Written">',
      '<progress value="0" max="3" aria-hidden="true" data-succeeded>',
    ]);
    expect((await bars(2))[1]).to.contain('value="2"');
  });

  it('put names in quotation marks in their questions, which begin with a verb', async () => {
    const directory = fileURLToPath(new URL('../../views', import.meta.url));
    const bare: string[] = [];
    for (const file of await readdir(directory, { recursive: true })) {
      if (!file.endsWith('.hbs')) continue;
      const text = await readFile(join(directory, file), 'utf8');
      for (const [question, beginning = ''] of text.matchAll(/confirm=\(concat "([^"]*)" [\w.]+ "/g))
        if (!beginning.endsWith('“')) bare.push(`${file}: ${question}`);
    }
    expect(bare).to.deep.equal([]);
  });

  it('ask with a button that is red only where something is lost', async () => {
    const button = async (isSafe: boolean): Promise<string> =>
      /<button[^>]+>/.exec(await views.render('admin/confirm', { action: '/x', isSafe }))?.[0] ?? '';
    expect(await button(false)).to.contain('button-danger');
    expect(await button(true)).to.contain('button-primary');
  });
});
