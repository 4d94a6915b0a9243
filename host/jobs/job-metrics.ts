import type { AttemptOutcome } from './attempt.ts';
import type { JobKind } from './job-kinds.ts';
import type { JobStore } from './job-store.ts';

export interface JobMetrics {
  observe(kind: Pick<JobKind, 'owner' | 'name'>, outcome: AttemptOutcome, milliseconds: number): void;
  expose(): Promise<string>;
}

interface Attempts {
  count: number;
  seconds: number;
}

/** Attempts of this process, and the open and failed jobs of the site, in Prometheus's text format. */
export function createJobMetrics(store: Pick<JobStore, 'counts'>): JobMetrics {
  const attempts = new Map<string, Attempts>();
  return {
    observe({ owner, name }, outcome, milliseconds) {
      const labels = `owner="${owner}",job="${name}",outcome="${outcome}"`;
      const known = attempts.get(labels) ?? { count: 0, seconds: 0 };
      attempts.set(labels, known);
      known.count += 1;
      known.seconds += milliseconds / 1000;
    },
    async expose() {
      const open = (await store.counts()).filter(({ state }) => state !== 'completed');
      return [
        '# HELP jobs Stored jobs that wait, run, have failed or were cancelled.',
        '# TYPE jobs gauge',
        ...open.map(
          ({ owner, name, state, count }) => `jobs{owner="${owner}",job="${name}",state="${state}"} ${String(count)}`,
        ),
        '# HELP job_attempts_total Attempts of this process by outcome.',
        '# TYPE job_attempts_total counter',
        ...[...attempts].map(([labels, { count }]) => `job_attempts_total{${labels}} ${String(count)}`),
        '# HELP job_attempt_seconds_total Time of these attempts.',
        '# TYPE job_attempt_seconds_total counter',
        ...[...attempts].map(([labels, { seconds }]) => `job_attempt_seconds_total{${labels}} ${String(seconds)}`),
      ].join('\n');
    },
  };
}
