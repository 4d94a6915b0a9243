import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createHooks } from '../../host/hooks/hooks.ts';
import { createRedactor } from '../../host/log/redactor.ts';
import { createOptions, migrations, type Options } from '../../host/options/options.ts';
import { createFormerKeys, type FormerKeys } from '../../host/secrets/former-keys.ts';
import { addKey, dropKeys, readKeyFile } from '../../host/secrets/key-file.ts';
import { createSecrets } from '../../host/secrets/secrets.ts';
import { createFakeClock } from '../../host/testing/fake-clock.ts';
import { describeDialects, silentLog } from '../helpers/dialects.ts';

describeDialects('former keys', (open) => {
  let dataDir: string;
  let started: Options[];
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'keys-'));
    started = [];
  });
  afterEach(async () => {
    for (const options of started) options.stop();
    await rm(dataDir, { recursive: true });
  });

  /** A process of the site. Its clock stands still, so that it polls for no changes of the others. */
  async function start(): Promise<{ formerKeys: FormerKeys; derive: () => Buffer }> {
    const clock = createFakeClock();
    const database = await open({ clock });
    await database.migrate('host', migrations);
    const secrets = createSecrets({ secretKey: null, dataDir, redactor: createRedactor() });
    const options = createOptions({ database, hooks: createHooks(), clock, log: silentLog, secrets });
    await options.load();
    started.push(options);
    return {
      formerKeys: createFormerKeys({ options, secrets, clock }),
      derive: () => secrets.deriveKey('security-log'),
    };
  }

  it('are found right after another process has retired them and dropped the root key', async () => {
    const reader = await start();
    const former = reader.derive();
    expect(await reader.formerKeys.find('security-log')).to.deep.equal([]);

    addKey(dataDir);
    const rotating = await start();
    rotating.derive();
    await rotating.formerKeys.retire(3);
    dropKeys(dataDir, readKeyFile(dataDir)!.slice(1));

    expect(reader.derive().equals(former)).to.equal(false);
    const found = await reader.formerKeys.find('security-log');
    expect(found.map(({ key, until }) => ({ key: key.toString('hex'), until }))).to.deep.equal([
      { key: former.toString('hex'), until: 3 },
    ]);
  });
});
