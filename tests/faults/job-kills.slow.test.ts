import { expect } from 'chai';
import { describeDialects } from '../helpers/dialects.ts';
import { jobKills } from './job-kills.ts';

const kills = Number(process.env['JOB_KILLS'] ?? 8);

describeDialects('jobs whose nodes are killed', (open, { location }) => {
  it(`all complete, each with one effect, over ${String(kills)} kills`, async function () {
    this.timeout(60_000 + kills * 10_000);
    const report = await jobKills({ open, location: location(), kills });
    expect(report).to.include({ unfinished: 0, wrongEffects: 0, jobs: kills * 10 });
    // The kills met jobs at work, or nothing was proved.
    expect(report.attempts).to.be.above(report.jobs);
    if (process.env['JOB_KILLS'] !== undefined) console.log(report);
  });
});
