import { validRequests } from '../hostile-requests.ts';
import { countData, nameRests, readTraces } from '../plugin-traces.ts';
import { clock, deactivateAndUninstall, follow, followLimit, ownRoutes, type Subject } from './subject.ts';

export async function tryNodes({ host, node, source: { manifest } }: Subject): Promise<string | undefined> {
  if (node === null) return 'Two nodes need PostgreSQL.';
  await follow(node, manifest.slug, true);
  await host.plugins.deactivate(manifest.slug);
  await follow(node, manifest.slug, false);
  await host.plugins.activate(manifest.slug);
  await follow(node, manifest.slug, true);
  return undefined;
}

/** Everything that could grow, by name. */
async function countAll({ host, source }: Subject): Promise<Record<string, number>> {
  const owner = source.manifest.slug;
  return {
    'hook callbacks': host.hooks
      .describe()
      .flatMap(({ callbacks }) => callbacks)
      .filter((each) => each.owner === owner).length,
    routes: host.rest.describe().length,
    'admin pages': host.adminPages(owner).length,
    settings: host.options.settings().length,
    roles: host.users.roles().length,
    'cron events': (await readTraces(host)).events.length,
    'timers of the host': host.clock.pending(),
    'timers of Node': process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
    'listeners of the process': process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
  };
}

export async function tryRounds(subject: Subject): Promise<string | undefined> {
  const { host, rounds, source } = subject;
  const { slug } = source.manifest;
  const round = async (): Promise<void> => {
    await host.plugins.deactivate(slug);
    await host.plugins.activate(slug);
  };
  await round();
  const before = await countAll(subject);
  for (let done = 0; done < rounds; done += 1) await round();
  const after = await countAll(subject);
  const grown = Object.keys(before).filter(
    // Timers of Node come and go with connections; what leaks has one for each round.
    (name) => (after[name] ?? 0) >= (before[name] ?? 0) + (name === 'timers of Node' ? rounds : 1),
  );
  if (grown.length === 0) return undefined;
  const list = grown.map((name) => `${name} from ${before[name] ?? 0} to ${after[name] ?? 0}`).join(', ');
  throw new Error(`After ${rounds} rounds there are more: ${list}.`);
}

/** Upgrades a site with data: those that valid requests to the routes of the previous version make. */
export async function tryUpgrade(subject: Subject): Promise<string | undefined> {
  const { host, node, source, previous, switchTo, before } = subject;
  if (previous === null) return 'No previous version was given.';
  const { slug } = source.manifest;
  await deactivateAndUninstall(subject);
  await switchTo(previous);
  await host.plugins.discover();
  await host.plugins.activate(slug);
  if (node !== null) await follow(node, slug, true);
  const { user } = await host.signIn();
  for (const { route, init } of ownRoutes(subject).flatMap(validRequests))
    if (init.method !== 'DELETE') await host.rest.dispatch(route, { ...init, user });
  const made = await countData(host, before);
  await switchTo(source.directory);
  await followUpgrade(subject);
  const lost = Object.entries(await countData(host, before)).find(([kind, count]) => count < (made[kind] ?? 0));
  if (lost === undefined) return undefined;
  const [kind, count] = lost;
  throw new Error(`The upgrade loses data: the plugin had ${made[kind] ?? 0} ${kind}, and has ${count}.`);
}

/** Waits until this process runs the version of the plugin's folder. */
async function followUpgrade({ host: { plugins }, source: { manifest } }: Subject): Promise<void> {
  const begin = performance.now();
  for (;;) {
    await plugins.sync();
    // Waits for an upgrade that runs. `sync` does not.
    const found = (await plugins.discover()).find(({ slug }) => slug === manifest.slug);
    if (found?.state === 'active' && found.version === manifest.version) return;
    if (found?.failure || performance.now() - begin > followLimit)
      throw new Error(
        `After the upgrade the plugin is ${found?.state ?? 'gone'}. ${found?.failure?.message ?? ''}`.trim(),
      );
    await clock.sleep(50);
  }
}

export async function tryUninstall(subject: Subject): Promise<string | undefined> {
  const { host, source, before } = subject;
  for (const time of [1, 2]) {
    if (time === 2) await host.plugins.activate(source.manifest.slug);
    await deactivateAndUninstall(subject);
    const rests = nameRests(before, await readTraces(host));
    if (rests.length > 0) throw new Error(`Uninstallation ${time} of 2 leaves something. ${rests.join(' ')}`);
    await host.plugins.discover();
  }
  return undefined;
}
