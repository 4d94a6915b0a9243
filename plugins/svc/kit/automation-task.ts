import type { JsonSchema, Knex } from '#plugin-api';
import type { UsageOrigin } from './usage-origin.ts';

/** Where the items of a task come from. `posts`: posts that match a query; the target is the post's id. */
export type AutomationSource = 'list' | 'csv' | 'rss' | 'posts';

/**
 * A kind of work that automations can do. Modules and plugins add theirs by the filter `svc_automation_task_types`, and
 * know nothing else of automations.
 */
export interface AutomationTaskType {
  /** For example `content_writing`; lower-case letters, digits and `_`. Told in events (contract 6.5, `data.task.type`). */
  readonly id: string;
  readonly label: string;
  readonly description: string;
  /** An object's schema; the form of a task is built from it, and its settings are checked by it. */
  readonly settings: JsonSchema;
  /** Which sources make sense, the usual one first. */
  readonly sources: readonly AutomationSource[];
  /** What is wrong with settings that the schema allows, by name of the field; empty: nothing. Default: nothing is. */
  readonly check?: (settings: Readonly<Record<string, unknown>>) => Promise<Readonly<Record<string, string>>>;
  /**
   * Does the work of one item. May run again for the same item after a failure or when the process died half-way: what
   * must not happen twice belongs into `commit` of the answer. A RestError with status 429 or 5xx, and errors of the
   * network, are tried again later; every other error fails the item with its message as the reason.
   */
  readonly run: (item: AutomationItem) => Promise<AutomationResult>;
}

export interface AutomationItem {
  /** Same at every attempt, of no other item; for keys of events and the like. */
  readonly key: string;
  readonly id: number;
  /** Topic, address, row's first cell or post id, as it was queued. */
  readonly target: string;
  /** All that the source told: columns of a row, members of a feed's entry (`title`, `url`, `summary`, `published`), `post_id`. */
  readonly input: Readonly<Record<string, string | number | null>>;
  /** Valid by the type's schema. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly task: { readonly id: number; readonly name: string; readonly type: string; readonly authorId: number };
  /** 1 for the first. */
  readonly attempt: number;
  /** Hand it to every call to a provider, so that its cost is the item's. */
  readonly origin: UsageOrigin;
  /** Aborted when the item is cancelled, its lease is lost, or the process stops. */
  readonly signal: AbortSignal;
}

export interface AutomationResult {
  /** One sentence for people. */
  readonly message: string;
  /** Display name of the provider and the model that answered, where there was one. */
  readonly ai?: { readonly provider: string; readonly model: string };
  /**
   * Stores the outcome. Runs in the one transaction that completes the item, and not at all when the item was cancelled or
   * taken over meanwhile: either all of it happened, once, or nothing. Events are emitted here with `transaction`.
   */
  readonly commit?: (
    transaction: Knex.Transaction,
  ) => Promise<{ readonly postId?: number | null; readonly message?: string } | void>;
}
