import type { JsonSchema, Knex } from '#plugin-api';
import type { UsageOrigin } from './usage-origin.ts';

/** Where the items of a task come from. `posts`: posts that match a query; the target is the post's id. */
export type AutomationSource = 'list' | 'csv' | 'rss' | 'posts';

/**
 * A kind of work that automations can do. Modules and plugins add task types with the filter `svc_automation_task_types`; they
 * need nothing else of automations.
 */
export interface AutomationTaskType {
  /** For example `content_writing`; lower-case letters, digits and `_`. Part of events (contract 6.5, `data.task.type`). */
  readonly id: string;
  readonly label: string;
  readonly description: string;
  /** The schema of an object. It defines the form of a task and checks its settings. */
  readonly settings: JsonSchema;
  /** The supported task sources, the default first. */
  readonly sources: readonly AutomationSource[];
  /** Rewrites given settings before they are checked and stored, such as names to ids. Unknown values stay. Default: unchanged. */
  readonly normalize?: (settings: Readonly<Record<string, unknown>>) => Promise<Readonly<Record<string, unknown>>>;
  /** Returns errors of settings that match the schema, by field. Default: no errors. */
  readonly check?: (settings: Readonly<Record<string, unknown>>) => Promise<Readonly<Record<string, string>>>;
  /**
   * Does the work of one item. It may run again for the same item after a failure or a crash, so anything that must happen only
   * once belongs in `commit` of the result. A RestError with status 429 or 5xx and network errors are retried later. Every other
   * error fails the item, with its message as the reason.
   */
  readonly run: (item: AutomationItem) => Promise<AutomationResult>;
}

export interface AutomationItem {
  /** Unique for the item and the same at every attempt, for example for idempotency keys of events. */
  readonly key: string;
  readonly id: number;
  /** Topic, URL, first cell of the row or post id, as queued. */
  readonly target: string;
  /** Data of the source: columns of a row, members of a feed entry (`title`, `url`, `summary`, `published`), `post_id`. */
  readonly input: Readonly<Record<string, string | number | null>>;
  /** They match the schema of the task type. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly task: { readonly id: number; readonly name: string; readonly type: string; readonly authorId: number };
  /** 1 for the first. */
  readonly attempt: number;
  /** Pass it to every call to a provider, so that the cost belongs to the item. */
  readonly origin: UsageOrigin;
  /** Aborted when the item is cancelled, its lease is lost, or the process stops. */
  readonly signal: AbortSignal;
}

export interface AutomationResult {
  /** One sentence for the item's page. */
  readonly message: string;
  /** Display name of the provider, and the model, if one was called. */
  readonly ai?: { readonly provider: string; readonly model: string };
  /** Values by name, for the event of the item (`data.result.data`). */
  readonly data?: Readonly<Record<string, unknown>>;
  /**
   * Stores the outcome, in the transaction that completes the item. Does not run if the item was cancelled or another node claimed
   * it, so that everything happens once or not at all. Emit events here, with `transaction`.
   */
  readonly commit?: (
    transaction: Knex.Transaction,
  ) => Promise<{ readonly postId?: number | null; readonly message?: string } | void>;
}
