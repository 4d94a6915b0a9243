import { createHash } from 'node:crypto';
import type { HostApi, Knex } from '#plugin-api';
import type { Candidate } from '../sources/read-source.ts';
import { itemJob, taskTables, toItemJob } from '../tables.ts';
import type { Task } from '../tasks/task.ts';

/** SHA-256 of the text that identifies an entry. */
export function hashIdentity(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Entries without an item in the task: by identity, and for posts by their last change. */
export async function findNewEntries(
  knex: Knex,
  { id, source }: Pick<Task, 'id' | 'source'>,
  candidates: readonly Candidate[],
): Promise<Candidate[]> {
  const hashes = candidates.map(({ identity }) => hashIdentity(identity));
  const queued = new Set(
    (await knex(taskTables.items).where({ task_id: id }).whereIn('identity', hashes).pluck('identity')) as string[],
  );
  const posts = candidates.flatMap(({ post }) => (post ? [post.id] : []));
  const seen = posts.length === 0 ? new Map<number, SeenPost>() : await seenPosts(knex, id, posts);
  const mayComeAgain = source.kind === 'posts' && source.again;
  return candidates.filter(({ identity, post }, at) => {
    if (queued.has(hashes[at] ?? '') || hashes.indexOf(hashIdentity(identity)) < at) return false;
    const before = post && seen.get(post.id);
    return before === undefined || (mayComeAgain && !before.isOpen && before.modified < (post?.modified ?? 0));
  });
}

interface SeenPost {
  readonly isOpen: boolean;
  readonly modified: number;
}

async function seenPosts(knex: Knex, taskId: number, ids: readonly number[]): Promise<ReadonlyMap<number, SeenPost>> {
  const rows = (await knex(taskTables.items)
    .where({ task_id: taskId })
    .whereIn('source_post_id', [...ids])
    .groupBy('source_post_id')
    .select(
      'source_post_id',
      knex.raw(
        `max(seen_modified) as modified, max(case when state in ('pending', 'processing') then 1 else 0 end) as open`,
      ),
    )) as { readonly source_post_id: number; readonly modified: number; readonly open: number }[];
  return new Map(
    rows.map(({ source_post_id: id, modified, open }) => [
      id,
      { isOpen: Number(open) === 1, modified: Number(modified) },
    ]),
  );
}

export interface EnqueueInit {
  readonly task: Task;
  readonly runId: number;
  /** At most as many as fit into one statement. */
  readonly candidates: readonly Candidate[];
  /** Start of the site's day, in milliseconds since the epoch. */
  readonly dayBegan: number;
}

/**
 * Queues entries up to the daily limit, and ignores entries that are queued already. A lock on the task serializes
 * concurrent runs, so that together they never exceed the limit.
 */
export async function enqueue(
  { database, clock, jobs }: Pick<HostApi, 'database' | 'clock' | 'jobs'>,
  { task, runId, candidates, dayBegan }: EnqueueInit,
): Promise<{ readonly added: number; readonly dayIsFull: boolean }> {
  return database.transaction(async (transaction) => {
    const lock = transaction(taskTables.tasks).where({ id: task.id }).first('id');
    if ((await (database.dialect === 'postgresql' ? lock.forUpdate() : lock)) === undefined)
      return { added: 0, dayIsFull: false };
    const room =
      task.limits.day === 0 ? Infinity : task.limits.day - (await queuedSince(transaction, task.id, dayBegan));
    const taken = room === Infinity ? candidates : candidates.slice(0, Math.max(0, room));
    if (taken.length === 0) return { added: 0, dayIsFull: candidates.length > 0 };
    const now = clock.now();
    const rows = taken.map(({ identity, target, input, post }) => ({
      task_id: task.id,
      run_id: runId,
      identity: hashIdentity(identity),
      target,
      input: JSON.stringify(input),
      source_post_id: post?.id ?? null,
      seen_modified: post?.modified ?? null,
      state: 'pending',
      attempts: 0,
      tries_from: 0,
      message: '',
      created_at: now,
    }));
    const before = await countOpen(transaction, task.id);
    const added = (await transaction(taskTables.items)
      .insert(rows)
      .onConflict(['task_id', 'identity'])
      .ignore()
      .returning(['id', 'task_id'])) as { readonly id: number; readonly task_id: number }[];
    await jobs.addMany(
      itemJob,
      added.map((item, index) => toItemJob(item, before + index)),
    );
    return { added: added.length, dayIsFull: taken.length < candidates.length };
  });
}

async function countOpen(knex: Knex, taskId: number): Promise<number> {
  const open = knex(taskTables.items).where({ task_id: taskId }).whereIn('state', ['pending', 'processing']);
  const [row] = (await open.count({ n: '*' })) as { readonly n: number | string }[];
  return Number(row?.n ?? 0);
}

async function queuedSince(knex: Knex, taskId: number, since: number): Promise<number> {
  const [row] = (await knex(taskTables.items)
    .where({ task_id: taskId })
    .where('created_at', '>=', since)
    .count({ n: '*' })) as { readonly n: number | string }[];
  return Number(row?.n ?? 0);
}
