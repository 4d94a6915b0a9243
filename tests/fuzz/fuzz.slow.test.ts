import { expect } from 'chai';
import { describeHosts } from '../helpers/dialects.ts';
import { runFuzz } from './run-fuzz.ts';

/** `npm run fuzz` sends 100,000 and asks for more: see README.md. */
const requests = 2_000;

describeHosts('broken requests to every route', ({ location }) => {
  it('get no unexpected error and no long answer', async function () {
    this.timeout(240_000);
    const { databaseUrl, dataDir } = location();
    const report = await runFuzz({ database: databaseUrl ?? dataDir, requests });
    expect(report.unmapped).to.deep.equal([]);
    expect(report.mostProcessor, 'milliseconds of processor time').to.be.below(1_000);
    // Most are refused; if all were, nothing behind the checks was reached.
    expect(report.statuses).to.include.keys('200', '400', '401', '404');
  });
});

describe('broken requests', () => {
  it('show a route that fails unexpectedly, and one that takes long', async () => {
    const report = await runFuzz({
      requests: 600,
      plugins: [],
      prepareHost: ({ rest }) => {
        const spin = (): unknown => {
          const started = process.cpuUsage().user;
          while (process.cpuUsage().user - started < 200_000);
          throw new Error('Failed.');
        };
        rest.registerRoute('test/v1', '/fails', { handler: spin });
      },
    });
    expect(report.unmapped.length).to.be.greaterThan(0);
    for (const each of report.unmapped) expect(each).to.match(/^GET \/test\/v1\/fails.*-> 500 .*rest_internal_error/);
    expect(report.mostProcessor).to.be.at.least(200);
  });
});
