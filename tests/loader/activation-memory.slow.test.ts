import { expect } from 'chai';
import { runRounds } from './helpers/activation-memory.ts';
import type { RoundsReport } from './helpers/activation-memory.ts';
import { createPluginFolders } from './helpers/plugin-folders.ts';
import { registersEverything } from './helpers/registers-everything.ts';

/** Objects that may be left however many the rounds. One kept in each of them would be as many as the rounds are. */
const objectsAllowed = 100;
/** Bytes that may be left: code that the engine compiles meanwhile. A plugin's host, were it kept each time, would be 20 MB. */
const bytesAllowed = 2_500_000;

interface Left extends RoundsReport {
  readonly objects: number;
  readonly bytes: number;
}

describe('a plugin activated and deactivated again and again on a whole host', () => {
  const rounds = async ({
    first,
    last,
    more,
  }: {
    readonly first: number;
    readonly last: number;
    readonly more?: string;
  }): Promise<Left> => {
    const folders = await createPluginFolders();
    try {
      await folders.write('sample', { files: registersEverything({ more }) });
      const report = await runRounds({ folder: folders.directory, slug: 'sample', first, last });
      const [early, late] = report.readings;
      return { ...report, objects: late!.objects - early!.objects, bytes: late!.bytes - early!.bytes };
    } finally {
      await folders.remove();
    }
  };

  it('leaves nothing registered and no memory after 1,000 rounds', async () => {
    const { before, during, after, objects, bytes } = await rounds({ first: 200, last: 1_000 });
    expect(JSON.parse(during)).to.deep.include({
      setting: 7,
      command: 0,
      shortcode: true,
      answers: [200, 200, 200],
      schedule: 1,
    });
    expect(JSON.parse(before)).to.deep.include({
      setting: false,
      command: 1,
      shortcode: false,
      answers: [404, 404, 404],
      schedule: false,
      // The host's own.
      events: ['jobs_sweep'],
    });
    expect(after).to.equal(before);
    expect(objects, 'objects left by 800 rounds').to.be.below(objectsAllowed);
    expect(bytes, 'bytes left by 800 rounds').to.be.below(bytesAllowed);
  }).timeout(300_000);

  it('is caught when it leaves one small object behind in each round', async () => {
    const { before, after, objects } = await rounds({
      first: 60,
      last: 260,
      more: '(globalThis.leftBehind ??= []).push({});',
    });
    expect(after).to.equal(before);
    expect(objects, 'objects left by 200 rounds').to.be.above(objectsAllowed);
  }).timeout(300_000);

  it('is caught when it leaves an event behind', async () => {
    const { before, after } = await rounds({
      first: 1,
      last: 2,
      more: `void host.cron.schedule('daily', 'left_' + (globalThis.times = (globalThis.times ?? 0) + 1));`,
    });
    expect(after).to.not.equal(before);
  }).timeout(300_000);
});
