import type { Undo } from './undo.ts';

/** Returns lines in Prometheus's text format: `# HELP`, `# TYPE`, samples. */
export type MetricsCollector = () => string | Promise<string>;

/**
 * A plugin's own counters and gauges in `GET /metrics` of this process; scrape each node. Names start with the
 * plugin's slug, for example `svc_webhook_delivered_total`. Use labels only for values from a small, fixed set.
 */
export interface MetricsApi {
  /** @param collector called for each scrape. If it throws or takes more than 3 s, the error is logged and its metrics are left out. */
  add(collector: MetricsCollector): Undo;
}
