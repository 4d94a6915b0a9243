import type { Clock, JobStatus, Logger, RunningJob, Undo } from '#plugin-api';
import type { ClaimedJob, JobStore } from './job-store.ts';

export interface Progress {
  readonly report: RunningJob['progress'];
  /** Stores the last report. */
  flush(): Promise<void>;
  /** Stores the last report and takes no more. */
  stop(): Promise<void>;
}

/** Milliseconds between two writes. */
const interval = 1_000;
const longestMessage = 200;

/** Stores the latest report at most once a second: a job may report each of a million steps. */
export function createProgress(
  { store, clock, log }: { readonly store: Pick<JobStore, 'progress'>; readonly clock: Clock; readonly log: Logger },
  job: Pick<ClaimedJob, 'id' | 'token'>,
): Progress {
  let latest: NonNullable<JobStatus['progress']> | null = null;
  let timer: Undo | null = null;
  let isStopped = false;
  let writing: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    timer = null;
    const reported = latest;
    latest = null;
    if (reported === null) return;
    // One after the other: an earlier write must not end after a later one, or after the job.
    writing = writing
      .then(() => store.progress(job, reported))
      .catch((error: unknown) => {
        log.warn('Failed to store the progress of a job', { event: 'job_progress_failed', job: job.id, error });
      });
    await writing;
  }

  const flush: Progress['flush'] = async () => {
    timer?.();
    await write();
    await writing;
  };

  return {
    flush,
    report(done, total = 0, message = '') {
      if (isStopped || !Number.isFinite(done) || !Number.isFinite(total)) return;
      latest = { done: Math.round(done), total: Math.round(total), message: message.slice(0, longestMessage) };
      timer ??= clock.after(interval, () => void write());
    },
    async stop() {
      isStopped = true;
      await flush();
    },
  };
}
