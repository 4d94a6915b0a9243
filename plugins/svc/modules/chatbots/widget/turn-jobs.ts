import type { HostApi, JobStatus, StartedJob, Undo } from '#plugin-api';
import type { Reservation } from './limits.ts';

/** Job of a chat turn while its answer is generated. Its key is the UUID of the conversation. */
export const turnJob = 'chat-turn';

export type TurnArgs = {
  readonly messageId: string;
  /** Refunded if the process ends. Null: there is no limit. */
  readonly reservation: Reservation | null;
};

/** Across all nodes, one message of a conversation is answered at a time. */
export interface TurnJobs {
  /** Part of the running transaction. The id is that of the message that is being answered instead. */
  start(
    conversation: string,
    messageId: string,
  ): Promise<StartedJob | { readonly isStarted: false; readonly messageId: string }>;
  /** Id of the message that is being answered. */
  findRunning(conversation: string): Promise<string | null>;
  /** Asks the node that is answering to stop. Returns whether the message was being answered. */
  requestStop(conversation: string, messageId: string): Promise<boolean>;
  /** Notifies all nodes that an answer has ended, after the running transaction. */
  notifyEnd(conversation: string): Promise<void>;
  /** Calls the listener with the conversation when an answer ends on any node. */
  listen(listener: (conversation: string) => void): Promise<Undo>;
}

const channel = 'svc_widget_turns';

export function createTurnJobs({
  host: { database, jobs },
}: {
  readonly host: Pick<HostApi, 'database' | 'jobs'>;
}): TurnJobs {
  const messageIdOf = ({ args }: JobStatus): string => (args as TurnArgs).messageId;
  const find = async (key: string): Promise<JobStatus | undefined> =>
    (await jobs.list({ name: turnJob, key, state: 'running' }, 1))[0];
  return {
    async start(conversation, messageId) {
      const args: TurnArgs = { messageId, reservation: null };
      const started = await jobs.start(turnJob, args, { key: conversation });
      return started.isStarted ? started : { isStarted: false, messageId: messageIdOf(started.job) };
    },
    async findRunning(conversation) {
      const job = await find(conversation);
      return job === undefined ? null : messageIdOf(job);
    },
    async requestStop(conversation, messageId) {
      const job = await find(conversation);
      return job !== undefined && messageIdOf(job) === messageId && (await jobs.requestStop(job.id)) > 0;
    },
    notifyEnd: (conversation) => database.notify(channel, conversation),
    listen: (listener) => database.listen(channel, listener),
  };
}
