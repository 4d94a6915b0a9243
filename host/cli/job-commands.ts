import type { CliCommand, JobState, JobStatus } from '#plugin-api';
import type { Jobs } from '../jobs/jobs.ts';

const states: readonly JobState[] = ['waiting', 'running', 'completed', 'failed', 'cancelled'];

/** `jobs list|run|retry|cancel`. */
export function jobCommands(jobs: Pick<Jobs, 'list' | 'drain' | 'retry' | 'cancel'>): CliCommand[] {
  return [
    {
      name: 'jobs list',
      description: 'Lists background jobs, newest first.',
      flags: {
        state: { type: 'string', description: `Only jobs in this state: ${states.join(', ')}.` },
        plugin: { type: 'string', description: 'Only jobs of this plugin; host for those of the host.' },
        name: { type: 'string', description: 'Only jobs of this name.' },
        limit: { type: 'string', description: 'Number of jobs, 1 to 1,000. Default 50.' },
      },
      run: async ({ flags }) => {
        const [owner, name] = [readFlag(flags['plugin']), readFlag(flags['name'])];
        return (await jobs.list({ owner, name, state: readState(flags['state']) }, readLimit(flags['limit']))).map(
          toRow,
        );
      },
    },
    {
      name: 'jobs run',
      description: 'Runs all due jobs now, in this process.',
      run: async () => ({ ran: await jobs.drain() }),
    },
    {
      name: 'jobs retry',
      description: 'Runs a failed or cancelled job again, with all its attempts.',
      args: [{ name: 'id', description: "Id of the job (see 'jobs list')." }],
      async run({ args: [id] }) {
        const job = readId(id);
        if (!(await jobs.retry({ id: job })))
          throw new Error(`The job ${String(job)} is neither failed nor cancelled, or another job has its key.`);
        return { id: job, state: 'waiting' };
      },
    },
    {
      name: 'jobs cancel',
      description: 'Cancels a waiting or running job.',
      args: [{ name: 'id', description: "Id of the job (see 'jobs list')." }],
      async run({ args: [id] }) {
        const job = readId(id);
        if ((await jobs.cancel({ id: job })) === 0)
          throw new Error(`The job ${String(job)} neither waits nor runs: there is nothing to cancel.`);
        return { id: job, state: 'cancelled' };
      },
    },
  ];
}

function readFlag(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function readState(value: unknown): JobState | undefined {
  const state = readFlag(value);
  if (state === undefined) return undefined;
  const known = states.find((each) => each === state);
  if (known === undefined) throw new Error(`There is no state '${state}'. Use one of ${states.join(', ')}.`);
  return known;
}

function readLimit(value: unknown): number {
  const limit = Number(readFlag(value) ?? 50);
  if (!Number.isInteger(limit) || limit < 1 || limit > 1_000)
    throw new Error('--limit must be an integer from 1 to 1,000.');
  return limit;
}

function readId(value: string | undefined): number {
  const id = Number(value);
  if (!Number.isSafeInteger(id) || id < 1)
    throw new Error(`'${String(value)}' is no id of a job. Run 'jobs list' to see them.`);
  return id;
}

function toRow({ id, owner, name, key, state, attempts, dueAt, progress, error }: JobStatus): Record<string, unknown> {
  return {
    id,
    plugin: owner,
    name,
    key: key ?? '',
    state,
    attempts,
    due: dueAt === null ? '' : new Date(dueAt).toISOString(),
    progress: progress === null ? '' : `${String(progress.done)}/${String(progress.total)}`,
    error: error ?? '',
  };
}
