import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { createCron, migrations as cronMigrations } from '../../host/cron/cron.ts';
import { createHooks } from '../../host/hooks/hooks.ts';
import { createOptions, migrations, type Options } from '../../host/options/options.ts';
import { createFakeClock } from '../../host/testing/fake-clock.ts';
import { describeDialects, silentLog } from '../helpers/dialects.ts';

/** What a real WordPress answered, and the hooks it ran, for a program of calls; each builds on those before it. */
interface Recording {
  readonly name: string;
  readonly calls: string;
  readonly returns: unknown;
  readonly hooks: readonly [name: string, args: readonly unknown[]][];
}

/** Seconds since the epoch when the recording was made. */
const now = 1_795_169_432;

/** WordPress stores null and false as an empty text; here values keep their JSON type. */
const emptyTextStandsFor: Readonly<Record<string, unknown>> = { 'store null': null, 'transient false value': false };

type Program = (tools: {
  readonly options: Options;
  readonly hooks: ReturnType<typeof createHooks>;
}) => Promise<unknown>;

/** Runs the calls one after the other. */
async function inOrder(...calls: readonly (() => Promise<unknown>)[]): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const call of calls) answers.push(await call());
  return answers;
}

const programs: Readonly<Record<string, Program>> = {
  'get missing': ({ options }) =>
    inOrder(
      () => options.get('o1'),
      () => options.get('o1', 'd'),
    ),
  'add new': ({ options }) => options.add('o1', 'v'),
  'add existing': ({ options }) => options.add('o1', 'w'),
  get: ({ options }) => options.get('o1'),
  'update same': ({ options }) => options.update('o1', 'v'),
  'update new value': ({ options }) => options.update('o1', 'w'),
  'update missing = add': ({ options }) => options.update('o2', { a: 1 }),
  'get array': ({ options }) => options.get('o2'),
  delete: ({ options }) => options.delete('o1'),
  'delete missing': ({ options }) => options.delete('o1'),
  'store false (missing)': ({ options }) =>
    inOrder(
      () => options.update('of', false),
      () => options.get('of', 'absent'),
      () => options.add('of', false),
      () => options.get('of', 'absent'),
    ),
  'store null': ({ options }) =>
    inOrder(
      () => options.add('on', null),
      () => options.get('on', 'absent'),
    ),
  'empty name': ({ options }) =>
    inOrder(
      () => options.get(''),
      () => options.update('', 'x'),
      () => options.add(' ', 'x'),
    ),
  'trimmed name': ({ options }) =>
    inOrder(
      () => options.update(' o3 ', 'x'),
      () => options.get('o3'),
    ),
  'pre_option short circuit': ({ options, hooks }) =>
    withFilter(
      hooks,
      'pre_option_o3',
      () => 'PRE',
      () => options.get('o3'),
    ),
  'option_ filter': ({ options, hooks }) =>
    withFilter(
      hooks,
      'option_o3',
      (value) => `${String(value)}!`,
      () => options.get('o3'),
    ),
  'pre_update changes value': ({ options, hooks }) =>
    withFilter(
      hooks,
      'pre_update_option_o3',
      () => 'PRE',
      () =>
        inOrder(
          () => options.update('o3', 'zzz'),
          () => options.get('o3'),
        ),
    ),
  'pre_update returns old: no write': ({ options, hooks }) =>
    withFilter(
      hooks,
      'pre_update_option_o3',
      (_next, old) => old,
      () =>
        inOrder(
          () => options.update('o3', 'nope'),
          () => options.get('o3'),
        ),
    ),
  'registered default': async ({ options, hooks }) => {
    options.registerSetting('reg', { group: 'general', schema: { type: 'integer', default: 7 } });
    hooks.addFilter('sanitize_option_reg', (value) => Number.parseInt(String(value), 10));
    return inOrder(
      () => options.get('reg'),
      () => options.get('reg', 1),
    );
  },
  'registered update sanitizes': ({ options }) =>
    inOrder(
      () => options.update('reg', '12abc'),
      () => options.get('reg'),
    ),
  'registered update to default-equal': ({ options }) =>
    inOrder(
      () => options.delete('reg'),
      () => options.update('reg', 7),
      () => options.get('reg'),
    ),
  'transient set/get/delete': ({ options }) =>
    inOrder(
      () => options.getTransient('t1'),
      () => options.setTransient('t1', 'v', 60),
      () => options.getTransient('t1'),
      () => options.setTransient('t1', 'v', 60),
      () => options.setTransient('t1', 'w', 60),
      () => options.deleteTransient('t1'),
      () => options.deleteTransient('t1'),
      () => options.getTransient('t1'),
    ),
  'transient no expiry': ({ options }) =>
    inOrder(
      () => options.setTransient('t2', ['a']),
      () => options.getTransient('t2'),
      () => options.deleteTransient('t2'),
    ),
  'transient expired': ({ options }) =>
    inOrder(
      () => options.setTransient('t3', 'v', 1),
      () => options.update('_transient_timeout_t3', now - 5),
      () => options.getTransient('t3'),
      () => options.get('_transient_t3'),
    ),
  'transient false value': ({ options }) =>
    inOrder(
      () => options.setTransient('t4', false, 60),
      () => options.getTransient('t4'),
    ),
};

async function withFilter(
  hooks: ReturnType<typeof createHooks>,
  ...[name, callback, run]: [string, (...args: unknown[]) => unknown, () => Promise<unknown>]
): Promise<unknown> {
  const undo = hooks.addFilter(name, callback);
  const answer = await run();
  undo();
  return answer;
}

function withOwnTypes(recording: Recording): Recording {
  const stand = emptyTextStandsFor[recording.name];
  if (stand === undefined) return recording;
  return JSON.parse(JSON.stringify(recording), (_key, value: unknown) => (value === '' ? stand : value)) as Recording;
}

async function readRecordings(): Promise<Recording[]> {
  return JSON.parse(await readFile(new URL('options.json', import.meta.url), 'utf8')) as Recording[];
}

describeDialects('recorded options and transients of WordPress', (open) => {
  it('return the same values and run the same hooks with the same arguments', async () => {
    const recordings = (await readRecordings()).filter(({ name }) => !/^(cron|nonce)/.test(name));
    expect(recordings.map(({ name }) => name)).to.have.members(Object.keys(programs));
    const clock = createFakeClock({ now: now * 1000 });
    const database = await open({ clock });
    await database.migrate('host', migrations);
    const hooks = createHooks();
    const options = createOptions({ database, hooks, clock, log: silentLog });
    await options.load();
    let trace: [string, unknown[]][] = [];
    hooks.addAction('all', (name: string, ...args: unknown[]) =>
      trace.push([name, JSON.parse(JSON.stringify(args)) as unknown[]]),
    );
    for (const recording of recordings.map(withOwnTypes)) {
      trace = [];
      expect(await programs[recording.name]?.({ options, hooks }), recording.name).to.deep.equal(recording.returns);
      expect(trace, recording.name).to.deep.equal(recording.hooks);
    }
    options.stop();
  });
});

describeDialects('recorded cron of WordPress', (open) => {
  it('returns the same values', async () => {
    const recordings = new Map((await readRecordings()).map(({ name, returns }) => [name, returns]));
    const clock = createFakeClock({ now: now * 1000 });
    const database = await open({ clock });
    await database.migrate('host', cronMigrations);
    const cron = createCron({ database, hooks: createHooks(), clock, log: silentLog });
    const at = (seconds: number): number => clock.now() + seconds * 1000;
    const recurring = await inOrder(
      () => cron.schedule('hourly', 'ev', { firstRun: at(100) }),
      () => cron.schedule('hourly', 'ev', { firstRun: at(100) }),
      () => cron.schedule('hourly', 'ev', { firstRun: at(200) }),
      () => cron.schedule('nope', 'ev', { firstRun: at(100) }),
      () => cron.schedule('hourly', 'ev', { firstRun: 0 }),
      async () => (await cron.list()).find(({ hook }) => hook === 'ev')?.schedule,
      async () => (await cron.next('ev')) === at(100),
      () => cron.next('ev', ['x']),
      // WordPress answers false where nothing stood at that time; ours counts what it removed.
      async () => (await cron.unschedule('ev', [], at(999))) > 0,
      () => cron.unschedule('ev', []),
      () => cron.next('ev'),
    );
    expect(recurring).to.deep.equal(recordings.get('cron recurring'));
    const single = await inOrder(
      ...(
        [
          [50, 'a'],
          [300, 'a'],
          [1300, 'a'],
          [300, 'b'],
          [300, 1],
          [300, '1'],
        ] as const
      ).map(
        ([seconds, arg]) =>
          () =>
            cron.scheduleSingle(at(seconds), 'ev2', [arg]),
      ),
      () => cron.unschedule('ev2'),
    );
    expect(single).to.deep.equal(recordings.get('cron single duplicates (10 min window, per args)'));
    const intervals = Object.fromEntries(
      Object.entries(cron.schedules()).map(([name, { interval }]) => [name, interval]),
    );
    expect(intervals).to.deep.equal(recordings.get('cron schedules'));
  });
});
