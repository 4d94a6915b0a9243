import { createRowMapper, type HostApi } from '#plugin-api';
import { taskTables } from '../tables.ts';

const { fromRow, toRow, all } = createRowMapper<Run>({});

/** Runs that are stored of each task. */
const maxRuns = 200;

export interface RunStore {
  begin(taskId: number, begunBy: BegunBy): Promise<Run>;
  end(id: number, outcome: Pick<Run, 'state' | 'found' | 'added' | 'message'>): Promise<Run>;
  list(taskId: number, limit: number): Promise<Run[]>;
  last(): Promise<ReadonlyMap<number, Run>>;
}

export function createRunStore({ database, clock }: Pick<HostApi, 'database' | 'clock'>): RunStore {
  const runs = () => database.knex(taskTables.runs);
  return {
    async begin(taskId, begunBy) {
      const begun = {
        taskId,
        begunBy,
        state: 'running',
        found: 0,
        added: 0,
        message: '',
        startedAt: clock.now(),
      } as const;
      const [row] = (await runs().insert(toRow(begun)).returning('*')) as [object];
      const old = runs().select('id').where({ task_id: taskId }).orderBy('id', 'desc').limit(1).offset(maxRuns);
      await runs().where({ task_id: taskId }).where('id', '<=', old).delete();
      return fromRow(row);
    },
    async end(id, outcome) {
      const [row] = (await runs()
        .where({ id })
        .update({ ...outcome, ended_at: clock.now() })
        .returning('*')) as object[];
      // The task was deleted while it ran.
      return row === undefined
        ? { id, taskId: 0, begunBy: 'command', startedAt: clock.now(), endedAt: clock.now(), ...outcome }
        : fromRow(row);
    },
    list: (taskId, limit) => all(runs().where({ task_id: taskId }).orderBy('id', 'desc').limit(limit)),
    async last() {
      const newest = runs().max('id').groupBy('task_id');
      return new Map((await all(runs().whereIn('id', newest as never))).map((run) => [run.taskId, run]));
    },
  };
}

type BegunBy = 'schedule' | 'page' | 'command' | 'ability';

/** One reading of a task's source. */
export interface Run {
  readonly id: number;
  readonly taskId: number;
  readonly begunBy: BegunBy;
  readonly state: 'running' | 'done' | 'failed';
  /** Entries read from the source. */
  readonly found: number;
  /** New items that were queued. */
  readonly added: number;
  /** The result in one sentence. */
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number | null;
}

export interface Runs {
  /**
   * Queues the new entries of the task's source. A source that cannot be read is a failed run.
   *
   * @throws RestError 404; 409 if the task is paused
   */
  run(taskId: number, begunBy: BegunBy): Promise<Run>;
  /** Newest first. */
  list(taskId: number, limit: number): Promise<Run[]>;
  /** The last run of each task, by id of the task. */
  last(): Promise<ReadonlyMap<number, Run>>;
}
