import { expect } from 'chai';
import { scriptArguments, startSite } from '../helpers/running-site.ts';

describe('the memory of a site that npm start started', () => {
  it('is returned when nothing has run for a while, by the site and not by V8', async function () {
    this.timeout(120_000);
    const flags = (await scriptArguments('start')).filter((argument) => argument.startsWith('--'));
    const site = await startSite({}, [...flags, '--trace-gc']);
    try {
      await fetch(`${site.url}/wp-json/`);
      // The reason that V8 prints for a collection that a program asked for.
      await site.waitFor(/Mark-Compact .*\) testing;/);
      expect(site.output()).not.to.contain('(reduce)');
      expect((await fetch(`${site.url}/wp-json/`)).status).to.equal(200);
    } finally {
      await site.stop();
    }
  });
});
