import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { createSystemClock } from '../../host/clock.ts';
import { describeDialects } from '../helpers/dialects.ts';

describeDialects('a restore', (_open, { location }) => {
  it('names the secrets that cannot be read and the files that are missing', async function () {
    this.timeout(60_000);
    const { databaseUrl, dataDir } = location();
    const start = (key: string): Promise<TestHost> =>
      createTestHost({
        plugins: ['svc'],
        database: databaseUrl ?? dataDir,
        clock: createSystemClock(),
        env: { DATA_DIR: dataDir, SECRET_KEY: key, LOG_LEVEL: 'error' },
      });
    const backup = join(dataDir, 'site.jsonl.gz');
    const host = await start('the key of the former site');
    await host.cli('svc', 'webhook', 'secret', 'set', 'a signing secret of the site');
    const { id: author } = await host.users.create({
      login: 'ada',
      email: 'ada@example.com',
      password: 'a long password',
      role: 'administrator',
    });
    const media = await host.content.media.save({ name: 'notes.txt', bytes: Buffer.from('Notes'), authorId: author });
    const complete = await host.cli('doctor');
    expect(complete.err).not.to.include('uploads').and.not.to.include('cannot be read');
    expect((await host.cli('db', 'backup', backup)).code).to.equal(0);
    const known = await host.cli('db', 'restore', backup, '--json');
    expect(JSON.parse(known.out)).not.to.have.property('warnings');
    await host.stop();

    await rm(join(dataDir, 'uploads'), { recursive: true });
    const restored = await start('another key of the site');
    try {
      const { warnings } = JSON.parse((await restored.cli('db', 'restore', backup, '--json')).out) as {
        warnings: string[];
      };
      expect(warnings[0]).to.include('Webhook signing secret');
      expect(warnings[1]).to.include(media.file).and.to.include('1 file of the media library is missing');
      const doctor = await restored.cli('doctor');
      for (const warning of warnings) expect(doctor.err).to.include(warning);
    } finally {
      await restored.stop();
    }
  });
});
