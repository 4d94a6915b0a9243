import { lazy, type Metric } from '#plugin-api';

/** Loads prom-client with the first metric of this process, because it is not needed to start. */
export const loadPrometheus = lazy(async () => {
  const { default: prometheus } = await import('prom-client');
  return () => prometheus;
});

/** Metrics in Prometheus's text format, without a line break at the end. */
export async function printMetrics(metrics: readonly Metric[]): Promise<string> {
  const { Counter, Gauge, Registry } = await loadPrometheus();
  const registry = new Registry();
  for (const { name, type, help, samples } of metrics) {
    const init = { name, help, labelNames: Object.keys(samples[0]?.labels ?? {}), registers: [registry] };
    if (type === 'counter') {
      const counter = new Counter(init);
      for (const { labels = {}, value } of samples) counter.inc(labels, value);
    } else {
      const gauge = new Gauge(init);
      for (const { labels = {}, value } of samples) gauge.set(labels, value);
    }
  }
  return (await registry.metrics()).trimEnd();
}
