export type BegunBy = 'schedule' | 'page' | 'command';

/** One look at a task's source. */
export interface Run {
  readonly id: number;
  readonly taskId: number;
  readonly begunBy: BegunBy;
  readonly state: 'running' | 'done' | 'failed';
  /** Entries of the source that were looked at. */
  readonly found: number;
  /** New items. */
  readonly added: number;
  /** One sentence: what came of it. */
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number | null;
}

export interface Runs {
  /** Collects what is new in the task's source. Throws RestError 404, 409 where the task is paused; a source that cannot be read is a failed run. */
  run(taskId: number, begunBy: BegunBy): Promise<Run>;
  /** Newest first. */
  list(taskId: number, limit: number): Promise<Run[]>;
  /** The last run of each task, by id of the task. */
  last(): Promise<ReadonlyMap<number, Run>>;
}
