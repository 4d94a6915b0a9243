import { expect } from 'chai';
import { formBundle } from '../../../../plugins/svc/modules/ai-forms/browser/bundle.ts';

describe('the script of forms', () => {
  it('is one file of at most 40 KB, and makes no HTML of texts', async () => {
    const { script, styles } = await formBundle();
    console.log(
      `      form.js: ${script.gzipped.length} bytes gzipped (${script.content.length} plain), form.css: ${styles.gzipped.length}`,
    );
    expect(script.gzipped.length).to.be.at.most(40_000);
    // The one use of innerHTML reads what was built, for a download.
    expect(script.content.toString()).not.to.match(/innerHTML\s*=|insertAdjacentHTML|document\.write|\beval\(/);
  });

  it('gives errors their former class too, which sites may style', async () => {
    const { script } = await formBundle();
    expect(script.content.toString()).to.contain('svcf-error svcf-fault');
  });
});
