import type { CliCommand, CronApi } from '#plugin-api';

interface RunSummary {
  readonly hook: string;
  readonly outcome: string;
  readonly error: string | null;
  readonly startedAt: number;
  readonly finishedAt: number;
}

export interface CronForCommands extends Pick<CronApi, 'list'> {
  run(hook: string): Promise<readonly RunSummary[]>;
  runDue(): Promise<number>;
}

export function cronCommands(cron: CronForCommands): CliCommand[] {
  return [
    {
      name: 'cron list',
      description: 'Lists scheduled events, next one first.',
      run: async () =>
        (await cron.list()).map(({ hook, args, schedule, nextRun }) => ({
          hook,
          args,
          schedule: schedule ?? 'once',
          next_run: new Date(nextRun).toISOString(),
        })),
    },
    {
      name: 'cron run',
      description: 'Runs the events of a hook now, or all due events with --due.',
      args: [{ name: 'hook', description: 'Name of the action.', optional: true }],
      flags: { due: { type: 'boolean', description: 'Run all due events.' } },
      async run({ args: [hook], flags }) {
        if (flags['due'] === true) return { ran: await cron.runDue() };
        if (hook === undefined) throw new Error("Name a hook (see 'cron list'), or use --due.");
        const runs = await cron.run(hook);
        const failed = runs.find(({ outcome }) => outcome === 'failed');
        if (failed) throw new Error(`${hook} failed: ${failed.error}`);
        return runs.map(({ outcome, startedAt, finishedAt }) => ({
          hook,
          outcome,
          milliseconds: finishedAt - startedAt,
        }));
      },
    },
  ];
}
