import type { HostApi } from '#plugin-api';
import type { Task } from '../tasks/task.ts';

/** What a server said of the version of a feed that it sent; it then sends the feed again only after a change (RFC 9110, 13.1). */
export interface FeedVersion {
  readonly etag?: string;
  readonly lastModified?: string;
}

/** Seconds. A feed without a change is read again after this time, and its entries compared. */
const storedFor = 7 * 86_400;
/** Characters. Longer ones are not sent back. */
const longest = 1_000;

export function versionOf(headers: Readonly<Record<string, string>>): FeedVersion {
  const { etag = '', 'last-modified': lastModified = '' } = headers;
  return {
    ...(etag !== '' && etag.length <= longest && { etag }),
    ...(lastModified !== '' && lastModified.length <= longest && { lastModified }),
  };
}

export function conditionsOf({ etag, lastModified }: FeedVersion): Record<string, string> {
  return {
    ...(etag !== undefined && { 'if-none-match': etag }),
    ...(lastModified !== undefined && { 'if-modified-since': lastModified }),
  };
}

/** The version whose entries a task has queued all, shared by the nodes. A change of the task forgets it. */
export interface QueuedVersion {
  read(): Promise<FeedVersion>;
  write(version: FeedVersion): Promise<void>;
}

export function queuedVersion(
  { options }: Pick<HostApi, 'options'>,
  { id, source, updated_at }: Pick<Task, 'id' | 'source' | 'updated_at'>,
): QueuedVersion {
  const name = `svc_automation_feed_${String(id)}`;
  return {
    async read() {
      if (source.kind !== 'rss') return {};
      const stored = await options.getTransient<{ readonly task: number; readonly version: FeedVersion }>(name);
      return stored !== false && stored.task === updated_at ? stored.version : {};
    },
    async write(version) {
      if (Object.keys(version).length > 0) await options.setTransient(name, { task: updated_at, version }, storedFor);
    },
  };
}
