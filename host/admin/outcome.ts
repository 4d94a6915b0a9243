import type { AdminActionResult } from '#plugin-api';

declare module '#plugin-api' {
  interface ActionMap {
    /** After an action of an admin page succeeded. */
    admin_action_done: (action: AdminActionDone) => void;
  }
}

export interface AdminActionDone {
  /** Slug of the page. */
  readonly page: string;
  readonly action: string;
  /** Capability of the page. */
  readonly capability: string;
  readonly userId: number;
  readonly ip: string;
  /** Name of the file that the action sends; null without one. */
  readonly download: string | null;
  /** It changed nothing. */
  readonly readOnly: boolean;
}

/** What an action returned, or the error it threw. */
export interface Outcome {
  readonly result: AdminActionResult;
  readonly status: number;
  /** Code of the error. */
  readonly code?: string;
  readonly data?: unknown;
}
