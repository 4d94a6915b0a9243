import type { Undo } from './undo.ts';

/** Answers lines in Prometheus's text format: `# HELP`, `# TYPE`, samples. */
export type MetricsCollector = () => string | Promise<string>;

/**
 * A plugin's own counters and gauges in `GET /metrics` of this process: each node is scraped for itself. Names begin
 * with the plugin's slug, for example `svc_webhook_delivered_total`; labels hold values of a small, known set.
 */
export interface MetricsApi {
  /** @param collector asked at each scrape. One that throws or takes more than 3 s is logged and left out; the others are shown. */
  add(collector: MetricsCollector): Undo;
}
