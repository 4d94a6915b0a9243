import { expect } from 'chai';
import { createPostgresDatabase } from '../helpers/postgres.ts';
import { fuzzWork, startWorkSite, type WorkSite } from './measure-work.ts';

/** Milliseconds: a wide margin, for machines that do other work too. `npm run fuzz` measures with a small one. */
const longest = 8_000;

/** Milliseconds of processor time without a pause. Most take below 60; what worked in one go took 250 to 950. */
const longestSlice = 250;
/** A body with 32 MB of images is one text for the parser, one step of 160 ms where memory is slow. */
const longestSliceOfImages = 400;

for (const dialect of ['SQLite', 'PostgreSQL'] as const)
  describe(`the work of one request (${dialect})`, function () {
    this.timeout(600_000);
    let site: WorkSite;
    let drop = async (): Promise<void> => {};
    before('starts a site in a process of its own', async () => {
      let url: string | undefined;
      if (dialect === 'PostgreSQL') ({ url, drop } = await createPostgresDatabase());
      site = await startWorkSite(url);
    });
    after(async () => {
      await site.stop();
      await drop();
    });

    it('is bounded: the largest number is accepted, one more is refused, and other requests go on', async () => {
      // Loads what the first requests load.
      for (const { make } of site.multipliers) await site.send(make(1));
      const before = await site.memory();
      for (const { name, most, make, refusal } of site.multipliers) {
        const accepted = await site.send(make(most));
        expect(accepted.text, `${String(most)} ${name}`).to.not.match(refusal);
        expect(accepted.status, `${String(most)} ${name}`).to.be.within(200, 499);
        const refused = await site.send(make(most + 1));
        expect(refused.text, `${String(most + 1)} ${name}`).to.match(refusal);
        expect(refused.status, `${String(most + 1)} ${name}`).to.be.within(400, 499);
        expect(Math.max(accepted.delay, refused.delay), `milliseconds of /healthz: ${name}`).to.be.below(longest);
        const limit = name === 'bytes of an image inside' ? longestSliceOfImages : longestSlice;
        expect(Math.max(accepted.slice, refused.slice), `processor time without a pause: ${name}`).to.be.below(limit);
      }
      expect((await site.memory()) - before, 'bytes').to.be.below(600e6);
    });

    it('is bounded for any number', async () => {
      const { health, slice, statuses } = await fuzzWork(site, { requests: 100, seed: 1, limit: 500 });
      expect(health.time, health.request).to.be.below(longest);
      expect(slice.time, slice.request).to.be.below(longestSliceOfImages);
      expect(statuses).to.not.have.property('500');
    });
  });
