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

/** Names of OpenTelemetry's semantic conventions, such as `gen_ai.request.model`. Never secrets or what people wrote. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** Parts of what is being traced: the waterfall of System → Traces shows them, and OpenTelemetry gets them. */
export interface TracesApi {
  /**
   * Runs `work` as a span of the plugin. While nothing is traced, it only runs it.
   *
   * @param work gets a function that adds attributes to the span. It does nothing once the span has ended.
   * @returns what `work` returns. The span ends with it, or when its promise settles; an error is noted and passed on.
   */
  span<Result>(name: string, work: (describe: (attributes: SpanAttributes) => void) => Result): Result;
}

/** Returns metrics, or lines in Prometheus's text format: `# HELP`, `# TYPE`, samples. */
export type MetricsCollector = () => Collected | Promise<Collected>;
type Collected = string | readonly Metric[];

/** A plugin's own counters and gauges in `GET /metrics` of this process; scrape each node. */
export interface MetricsApi {
  /** @param collector called for each scrape. If it throws or takes more than 3 s, the error is logged and its metrics are left out. */
  add(collector: MetricsCollector): Undo;
}
