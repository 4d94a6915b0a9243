import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createSystemClock } from '../../host/clock.ts';
import { createPluginClaims } from '../../host/loader/claims.ts';
import { createFakeClock } from '../../host/testing/fake-clock.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { until } from '../helpers/until.ts';

const holding = fileURLToPath(new URL('fixtures/hold-name.ts', import.meta.url));

describeDialects('names held by processes', (open, { dialect, location }) => {
  it('belong to several together, or to one alone', async () => {
    const [here, there] = [await open(), await open()];
    const first = await here.hold('colour', 'shared');
    const second = await there.hold('colour', 'shared');
    expect(await there.countHolders('colour')).to.equal(dialect === 'sqlite' ? null : 1);
    expect(await there.countHolders('taste')).to.equal(dialect === 'sqlite' ? null : 0);
    await second?.();
    expect(await there.hold('colour', 'alone')).to.equal(null);
    await (
      await there.hold('taste', 'alone')
    )?.();
    await first?.();
    await first?.();
    const alone = await there.hold('colour', 'alone');
    expect(alone).to.not.equal(null);
    expect(await here.hold('colour', 'shared')).to.equal(null);
    expect(await here.hold('colour', 'alone')).to.equal(null);
    await alone?.();
    expect(await here.hold('colour', 'shared')).to.not.equal(null);
  });

  it('are free after the process was killed', async () => {
    const database = await open();
    const { databaseUrl, dataDir } = location();
    const child = spawn(process.execPath, [holding, databaseUrl ?? '', dataDir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      await once(child.stdout, 'data');
      expect(await database.hold('colour', 'alone')).to.equal(null);
    } finally {
      child.kill('SIGKILL');
    }
    await until('the name is free', async () => (await database.hold('colour', 'alone')) !== null);
  });

  it('are free after the database was closed', async () => {
    const [here, there] = [await open(), await open()];
    await there.hold('colour', 'shared');
    await there.close();
    await until('the name is free', async () => (await here.hold('colour', 'alone')) !== null);
  });

  it('let an uninstallation say that the plugin still runs elsewhere', async () => {
    const [here, there] = [await open(), await open()];
    const clock = createFakeClock({ skipSleeps: true });
    const claims = createPluginClaims({ ...here, clock });
    const release = await createPluginClaims({ ...there, clock }).run('orders');
    expect(((await failureOf(claims.uninstall('orders'))) as Error).message).to.equal(
      "The plugin 'orders' still runs in another process of the site, which would write its data again, so nothing was " +
        'deleted. Wait until each has followed the deactivation, or stop it, then uninstall again.',
    );
    await release?.();
    const alone = await claims.uninstall('orders');
    const waiting = createPluginClaims({ ...there, clock: createSystemClock() }).run('orders');
    await alone();
    expect(await waiting).to.not.equal(null);
  });

  if (dialect === 'postgresql') {
    it('are counted', async () => {
      const [here, ...others] = [await open(), await open(), await open()];
      for (const other of others) await other.hold('plugin-orders', 'shared');
      const claims = createPluginClaims({ ...here, clock: createFakeClock({ skipSleeps: true }) });
      expect(((await failureOf(claims.uninstall('orders'))) as Error).message).to.match(
        /still runs in 2 other processes/,
      );
    });

    it('are held again after the connection was cut', async () => {
      const [here, there] = [await open(), await open()];
      await there.hold('colour', 'shared');
      await here.knex.raw(
        'SELECT pg_terminate_backend(pid, 5000) FROM pg_locks WHERE locktype = ? AND database = (SELECT oid FROM pg_database WHERE datname = current_database())',
        ['advisory'],
      );
      await until('the name is held again', async () => (await here.countHolders('colour')) === 1);
      expect(await here.hold('colour', 'alone')).to.equal(null);
    });
  }
});
