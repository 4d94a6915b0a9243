import type { HostApi } from '#plugin-api';
import type { Hours } from '../history/hours.ts';
import type { Inbox } from '../inbox/inbox.ts';
import type { Webhooks } from '../webhooks.ts';

/** What the pages of the flight recorder work with. */
export interface RecorderContext {
  readonly host: HostApi;
  readonly webhooks: Webhooks;
  readonly hours: Hours;
  readonly inbox: Inbox;
}
