import type { Undo } from './undo.ts';

/** A counter or gauge with its samples. */
export interface Metric {
  /**
   * Letters, digits, `_` and `:`. Starts with the plugin's slug, with `_` for each `-`: `svc_webhook_delivered_total`. Other
   * names are left out, and the page of the plugins says so.
   */
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  /** All with the same label names. */
  readonly samples: readonly MetricSample[];
}

export interface MetricSample {
  /** Use labels only for values from a small, fixed set. */
  readonly labels?: Readonly<Record<string, string | number>>;
  /** Finite; of a counter 0 or more. */
  readonly value: number;
}

/** Returns metrics, or lines in Prometheus's text format: `# HELP`, `# TYPE`, samples. */
export type MetricsCollector = () => Collected | Promise<Collected>;
type Collected = string | readonly Metric[];

/** A plugin's own counters and gauges in `GET /metrics` of this process; scrape each node. */
export interface MetricsApi {
  /** @param collector called for each scrape. If it throws or takes more than 3 s, the error is logged and its metrics are left out. */
  add(collector: MetricsCollector): Undo;
}
