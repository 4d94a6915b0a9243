import type { Embed } from '../../ai/embed.ts';
import type { GenerateImages } from '../../ai/generate-images.ts';
import type { GenerateText } from '../../ai/generate-text.ts';
import type { AutomationTaskType } from '../../kit/automation-task.ts';
import type { Candidate } from './sources/candidate.ts';
import type { Item } from './queue/item.ts';
import type { Task } from './tasks/task.ts';

/** How a plugin's task type calls the providers of the site. Pass the item's `origin` and `signal` to every call. */
export interface AutomationTools {
  readonly generateText: GenerateText;
  readonly generateImages: GenerateImages;
  readonly embed: Embed;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** Task types that automations offer. Add your own; it calls providers through the second argument. */
    svc_automation_task_types: (
      types: readonly AutomationTaskType[],
      tools: AutomationTools,
    ) => readonly AutomationTaskType[];
    /** Entries that a run found and that are not queued yet, some hundred at a time; leaves some out, changes or adds some. What is left out comes again at the next run. */
    svc_automation_entries: (entries: readonly Candidate[], task: Task) => readonly Candidate[];
    /** Seconds to wait after the first, second, ... attempt that failed and may be tried again; the last one counts for all further ones. Half of each is random. */
    svc_automation_retry_delays: (delays: readonly number[], task: Task) => readonly number[];
  }
  interface ActionMap {
    /** A task was made or changed; second argument: as it was before, null for a new one. */
    svc_automation_task_saved: (task: Task, before: Task | null) => void;
    svc_automation_task_deleted: (task: Task) => void;
    /** An item is completed or has finally failed, on the node that worked on it; after it is stored. */
    svc_automation_item_finished: (item: Item, task: Task) => void;
  }
}
