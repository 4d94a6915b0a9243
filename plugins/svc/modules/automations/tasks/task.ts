/** The source of a task's items, as stored. */
export type TaskSource = ListSource | CsvSource | RssSource | PostsSource;

export interface ListSource {
  readonly kind: 'list';
  /** One item each; duplicates count once. */
  readonly items: readonly string[];
}

export interface CsvSource {
  readonly kind: 'csv';
  /** The first line names the columns. */
  readonly text: string;
}

export interface RssSource {
  readonly kind: 'rss';
  /** RSS 2.0 or Atom, fetched at each run. */
  readonly url: string;
}

export interface PostsSource {
  readonly kind: 'posts';
  readonly post_type: string;
  /** A status, or `any`. */
  readonly status: string;
  /** Value of the meta `svc_category`, case-insensitive; empty: any. */
  readonly category: string;
  /** Words that must all occur; empty: no filter. */
  readonly search: string;
  /** `YYYY-MM-DD`, empty: any time. */
  readonly changed_since: string;
  /** Queue a post again after it changes. */
  readonly again: boolean;
}

export type TaskStatus = 'active' | 'paused';

/** The settings of a task. */
export interface TaskSettings {
  readonly name: string;
  /** Id of an AutomationTaskType. */
  readonly type: string;
  /** A paused task queues nothing, and its items wait. */
  readonly status: TaskStatus;
  /** Follows the schema of the type. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly source: TaskSource;
  /** `hourly`, `twicedaily`, `daily`, `weekly`, a cron expression in UTC, or empty for manual runs only. */
  readonly schedule: string;
  /** Author of the posts; 0 for none. */
  readonly author_id: number;
  /** New items per run, and per day in the site's time zone; 0 for no limit. */
  readonly limits: { readonly run: number; readonly day: number };
  /** Maximum attempts per item, 1 to 10. */
  readonly attempts: number;
}

export interface Task extends TaskSettings {
  readonly id: number;
  /** Milliseconds since the epoch. */
  readonly created_at: number;
  readonly updated_at: number;
}

export interface TaskStore {
  get(id: number): Promise<Task | null>;
  /** By name. */
  list(): Promise<Task[]>;
  /** Missing members get defaults. @throws RestError 400 with an error for each invalid member */
  create(given: unknown): Promise<Task>;
  /** Replaces the given members; `settings` and `source` as a whole. @throws RestError 404, 400 */
  update(id: number, changes: unknown): Promise<Task>;
  /** Creates a paused copy without items. */
  duplicate(id: number): Promise<Task>;
  /** Deletes the task, its items and runs, and aborts running attempts. Returns whether it existed. */
  delete(id: number): Promise<boolean>;
  /** The next scheduled runs by task id, in milliseconds since the epoch. */
  nextRuns(): Promise<ReadonlyMap<number, number>>;
}
