import type { Metric } from '#plugin-api';
import type { AttemptOutcome } from './attempt.ts';
import type { JobKind } from './job-kinds.ts';
import type { JobStore } from './job-store.ts';

export interface JobMetrics {
  observe(kind: Pick<JobKind, 'owner' | 'name'>, outcome: AttemptOutcome, milliseconds: number): void;
  collect(): Promise<readonly Metric[]>;
}

interface Attempts {
  readonly labels: Readonly<Record<'owner' | 'job' | 'outcome', string>>;
  count: number;
  seconds: number;
}

/** Attempts of this process, and the open and failed jobs of the site. */
export function createJobMetrics(store: Pick<JobStore, 'counts'>): JobMetrics {
  const attempts = new Map<string, Attempts>();
  return {
    observe({ owner, name }, outcome, milliseconds) {
      const key = JSON.stringify([owner, name, outcome]);
      const known = attempts.get(key) ?? { labels: { owner, job: name, outcome }, count: 0, seconds: 0 };
      attempts.set(key, known);
      known.count += 1;
      known.seconds += milliseconds / 1000;
    },
    async collect() {
      const open = (await store.counts()).filter(({ state }) => state !== 'completed');
      return [
        {
          name: 'jobs',
          type: 'gauge',
          help: 'Stored jobs that wait, run, have failed or were cancelled.',
          samples: open.map(({ owner, name, state, count }) => ({ labels: { owner, job: name, state }, value: count })),
        },
        {
          name: 'job_attempts_total',
          type: 'counter',
          help: 'Attempts of this process by outcome.',
          samples: [...attempts.values()].map(({ labels, count }) => ({ labels, value: count })),
        },
        {
          name: 'job_attempt_seconds_total',
          type: 'counter',
          help: 'Time of these attempts.',
          samples: [...attempts.values()].map(({ labels, seconds }) => ({ labels, value: seconds })),
        },
      ];
    },
  };
}
