import type { Embed } from '../../ai/embed.ts';
import type { GenerateImages } from '../../ai/generate-images.ts';
import type { GenerateText } from '../../ai/generate-text.ts';
import type { AutomationTaskType } from '../../kit/automation-task.ts';
import type { Candidate } from './sources/read-source.ts';
import type { Item } from './queue/item.ts';
import type { Task } from './tasks/task.ts';

/** How a plugin's task type calls providers. Pass the item's `origin` and `signal` to every call. */
export interface AutomationTools {
  readonly generateText: GenerateText;
  readonly generateImages: GenerateImages;
  readonly embed: Embed;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** The task types. Add your own; it calls providers through the second argument. */
    svc_automation_task_types: (
      types: readonly AutomationTaskType[],
      tools: AutomationTools,
    ) => readonly AutomationTaskType[];
    /** New entries of a run, up to 100 at a time. Remove, change or add entries; removed entries come again with the next run. */
    svc_automation_entries: (entries: readonly Candidate[], task: Task) => readonly Candidate[];
    /** Seconds to wait after the first, second, ... failed attempt; the last value is used for all further ones. Half of each is random. */
    svc_automation_retry_delays: (delays: readonly number[], task: Task) => readonly number[];
  }
  interface ActionMap {
    /** A task was created or changed. `before` is null for a new task. */
    svc_automation_task_saved: (task: Task, before: Task | null) => void;
    /** After a task of an automation was deleted. */
    svc_automation_task_deleted: (task: Task) => void;
    /** An item completed or finally failed. Runs after it is stored, on the node that processed it. */
    svc_automation_item_finished: (item: Item, task: Task) => void;
  }
}
