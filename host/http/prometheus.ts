import { lazyValue, type Metric, type MetricsCollector } from '#plugin-api';

/** Loads prom-client with the first metric of this process, because it is not needed to start. */
export const loadPrometheus = lazyValue(async () => (await import('prom-client')).default);

/** In Prometheus's text format, without a line break at the end. */
interface PrintedMetrics {
  readonly text: string;
  /** Names that Prometheus does not allow. One of them would cost the whole scrape, so they are left out. */
  readonly refused: readonly string[];
}

const namePattern = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;

/** Prints what a collector returned. @throws Error for metrics of another form. */
export async function printCollected(collected: Awaited<ReturnType<MetricsCollector>>): Promise<PrintedMetrics> {
  if (typeof collected !== 'string') {
    const refused = collected.filter(({ name }) => !namePattern.test(name));
    const allowed = collected.filter((metric) => !refused.includes(metric));
    return { text: await printMetrics(allowed), refused: refused.map(({ name }) => name) };
  }
  const refused = new Set<string>();
  const lines = collected.split('\n').filter((line) => {
    const name = /^# (?:HELP|TYPE) +(\S+)/.exec(line)?.[1] ?? /^(?!#)\s*([^\s{]+)/.exec(line)?.[1];
    if (name === undefined || namePattern.test(name)) return true;
    refused.add(name);
    return false;
  });
  return { text: lines.join('\n').trim(), refused: [...refused] };
}

/** @throws Error for metrics of another form. */
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
