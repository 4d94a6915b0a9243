import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createClientBundle, inLanguage } from '#plugin-api';
import { buildClientBundle } from '../../host/sources/client-bundles.ts';
import { createAssets } from '../../host/http/assets.ts';
import { textsIn } from '../../host/http/script-texts.ts';
import { pseudoLanguage } from '../../host/languages/pseudo.ts';
import { createHelpers } from '../../host/views/helpers.ts';

describe('the texts of a script', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'script-texts-'));
    await mkdir(join(directory, 'shop'));
  });
  after(() => rm(directory, { recursive: true }));
  const write = (file: string, source: string): Promise<void> => writeFile(join(directory, 'shop', file), source);

  it('are the arguments of __ in any quotes', () => {
    expect(textsIn(`a(__('It\\'s on'), __("“Two”", { n }), obj.__(\`Three\`), name__('no'), __(four))`)).to.deep.equal([
      "It's on",
      '“Two”',
      'Three',
    ]);
  });

  it('include those of imported scripts, and follow changes', async () => {
    const assets = createAssets();
    assets.add('shop', join(directory, 'shop'));
    await write('rows.js', "import './page.js';\nimport { x } from './page.js';\nexport const b = () => __('Row');");
    await write('page.js', "import { b } from './rows.js';\nb(__('Page'));");
    expect(assets.texts('shop/page.js')).to.deep.equal({ slug: 'shop', texts: ['Page', 'Row'] });
    await write('rows.js', "export const b = () => __('Another row');");
    expect(assets.texts(assets.url('shop', 'page.js')).texts).to.deep.equal(['Page', 'Another row']);
    expect(assets.texts('shop/../../secret.js').texts).to.deep.equal([]);
    expect(assets.texts('other/page.js').texts).to.deep.equal([]);
  });

  it('of a bundle are known once it is built', async () => {
    await write(
      'main.ts',
      "declare function __(text: string): string;\nconst label: string = __('Bold');\nalert(label);",
    );
    await write('main.css', 'p {}');
    const assets = createAssets();
    const bundle = createClientBundle({
      script: join(directory, 'shop/main.ts'),
      styles: join(directory, 'shop/main.css'),
    });
    await buildClientBundle(bundle);
    const files = assets.addBundle('editor', bundle);
    const { script } = await files();
    expect(assets.texts(script)).to.deep.equal({ slug: 'editor', texts: ['Bold'] });
  });

  it('are part of the page in another language than English, and cannot end the script', () => {
    const scriptTexts = createHelpers({
      asset: () => '',
      admin: () => '',
      scriptTexts: () => ({ slug: 'shop', texts: ['Save', '</script>'] }),
    })['scriptTexts'];
    expect(String(scriptTexts?.('shop/page.js', {}))).to.equal('');
    const html = String(inLanguage(pseudoLanguage, () => scriptTexts?.('shop/page.js', undefined, {})));
    expect(html).to.match(/^<script type="application\/json" data-texts>\{"Save":"⟦Sàvè⟧",.*\}<\/script>$/);
    expect(html.indexOf('</script>')).to.equal(html.length - '</script>'.length);
  });
});
