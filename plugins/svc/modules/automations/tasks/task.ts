import type { Infer, JsonSchema } from '#plugin-api';
import type { AutomationSource } from '../../../kit/automation-task.ts';
import { flag, group, line, name, whole } from '../../../kit/setting-schemas.ts';

const limit = (title: string) => whole({ title, ui: { placeholder: 'No limit' } }, 0, [0, 1_000_000]);

/** A task: its form, its commands and what is stored. Types, sources and schedules have more rules. */
export const taskSchema = {
  type: 'object',
  title: 'Automation',
  properties: {
    name: name({ title: 'Name', description: 'Shown in lists, logs and webhooks.' }),
    /** Id of an AutomationTaskType. */
    type: { type: 'string', title: 'Type', required: true },
    /** A paused task queues nothing, and its items wait. */
    status: { type: 'string', title: 'Status', enum: ['active', 'paused'], default: 'active' },
    /** They follow the schema of the type. */
    settings: { type: 'object', title: 'Settings', default: {} },
    source: { type: 'object', title: 'Source', required: true },
    /** `hourly`, `twicedaily`, `daily`, `weekly`, a cron expression in the time zone of the site, or empty for manual runs only. */
    schedule: { type: 'string', title: 'Schedule', maxLength: 120, default: '' },
    /** 0 for none. */
    author_id: {
      type: 'integer',
      title: 'Author',
      description: 'Author of the posts, whose budgets apply',
      minimum: 0,
      default: 0,
    },
    /** Per run, and per day in the site's time zone; 0 for no limit. */
    limits: group({ title: 'Limits' }, { run: limit('New items per run'), day: limit('New items per day') }),
    attempts: whole({ title: 'Attempts', description: 'How often an item is tried before it fails.' }, 3, [1, 10]),
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const source = <const Members extends Readonly<Record<string, JsonSchema>>>(members: Members) =>
  ({ type: 'object', properties: { kind: { type: 'string', readOnly: true }, ...members } }) as const;

/** The sources of a task, without the post types and statuses of the site. */
export const sourceSchemas = {
  list: source({
    items: {
      type: 'array',
      title: 'List',
      description: 'One item per line, at most 10,000. The next run queues the lines that you add later.',
      items: { type: 'string', maxLength: 2_000 },
      minItems: 1,
      maxItems: 10_000,
      ui: { rows: 8, placeholder: 'Mountain coffee' },
      required: true,
    },
  }),
  csv: source({
    text: {
      type: 'string',
      title: 'Or paste the rows',
      maxLength: 2_000_000,
      pattern: '\\S',
      rule: 'must have a header line with column names, followed by rows',
      ui: { rows: 6, mono: true, placeholder: 'topic,keyword' },
      required: true,
    },
  }),
  rss: source({
    url: {
      type: 'string',
      title: 'Feed URL',
      format: 'uri',
      maxLength: 2_000,
      pattern: '^[Hh][Tt][Tt][Pp][Ss]?://',
      rule: 'must be an http or https URL, such as https://example.com/feed',
      ui: { mono: true, placeholder: 'https://example.com/feed' },
      required: true,
    },
  }),
  posts: source({
    post_type: { type: 'string', title: 'Post type', default: 'post' },
    status: { type: 'string', title: 'Post status', default: 'publish' },
    category: line({ title: 'Category', description: 'Leave empty for any category.' }, ''),
    search: line({ title: 'Search for' }, ''),
    changed_since: {
      type: 'string',
      title: 'Changed since',
      pattern: '^(\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01]))?$',
      rule: 'must be a date, such as 2026-01-31',
      default: '',
    },
    again: flag(
      { title: 'Queue changed posts again', description: 'Changes that the automation makes are ignored.' },
      false,
    ),
  }),
} as const satisfies Record<AutomationSource, JsonSchema>;

/** The schema of a source of any kind; undefined if the kind is unknown. */
export function sourceSchema(kind: unknown): JsonSchema | undefined {
  return typeof kind === 'string' && Object.hasOwn(sourceSchemas, kind)
    ? sourceSchemas[kind as AutomationSource]
    : undefined;
}

type Source<Kind extends AutomationSource> = { readonly kind: Kind } & Omit<
  Infer<(typeof sourceSchemas)[Kind]>,
  'kind'
>;
export type ListSource = Source<'list'>;
export type CsvSource = Source<'csv'>;
export type RssSource = Source<'rss'>;
export type PostsSource = Source<'posts'>;

/** The source of a task's items, as stored. */
export type TaskSource = ListSource | CsvSource | RssSource | PostsSource;

/** The settings of a task. */
export interface TaskSettings extends Omit<Infer<typeof taskSchema>, 'source'> {
  readonly source: TaskSource;
}

export type TaskStatus = TaskSettings['status'];

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
  /** Moves cron expressions to the present time zone of the site (D44). Named schedules are intervals, which have none. */
  reschedule(): Promise<void>;
  /** The next scheduled runs by task id, in milliseconds since the epoch. */
  nextRuns(): Promise<ReadonlyMap<number, number>>;
}
