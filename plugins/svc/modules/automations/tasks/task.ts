/** Where the items of a task come from, as it is saved. */
export type TaskSource = ListSource | CsvSource | RssSource | PostsSource;

export interface ListSource {
  readonly kind: 'list';
  /** Each an item of its own; equal ones are one. */
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
  /** As the meta `svc_category` names it, without regard to case; empty: any. */
  readonly category: string;
  /** Words that must all occur; empty: any post. */
  readonly search: string;
  /** `YYYY-MM-DD`, empty: any time. */
  readonly changed_since: string;
  /** Queue a post again when it was changed after it was last queued. */
  readonly again: boolean;
}

export type TaskStatus = 'active' | 'paused';

/** What is set of a task. */
export interface TaskSettings {
  readonly name: string;
  /** Id of an AutomationTaskType. */
  readonly type: string;
  /** A paused task collects nothing, and its items wait. */
  readonly status: TaskStatus;
  /** By the schema of its type. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly source: TaskSource;
  /** `hourly`, `twicedaily`, `daily`, `weekly`, a cron expression in UTC, or empty: only when somebody says so. */
  readonly schedule: string;
  /** In whose name posts are written; 0: nobody's. */
  readonly author_id: number;
  /** New items a run, and a day of the site, may bring; 0: as many as there are. */
  readonly limits: { readonly run: number; readonly day: number };
  /** Attempts at an item before it fails, 1 to 10. */
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
  /** What is not named gets a default. Throws RestError 400 with a sentence for each bad member. */
  create(given: unknown): Promise<Task>;
  /** Members that are named are replaced; `settings` and `source` as a whole. Throws RestError 404, 400. */
  update(id: number, changes: unknown): Promise<Task>;
  /** A copy that is paused, without the items. */
  duplicate(id: number): Promise<Task>;
  /** With its items and runs; what is under way is given up. Answers whether there was one. */
  delete(id: number): Promise<boolean>;
  /** When tasks run next by their schedules, by id; milliseconds since the epoch. */
  nextRuns(): Promise<ReadonlyMap<number, number>>;
}
