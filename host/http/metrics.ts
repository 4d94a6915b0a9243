import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import {
  isSameSecret,
  lazy,
  type Clock,
  type Logger,
  type MetricsApi,
  type MetricsCollector,
  lazyValue,
  type Metric,
} from '#plugin-api';

/** A small, fixed set of URL classes: a path as a label would let callers fill the memory. */
export type RouteClass = 'rest' | 'admin' | 'assets' | 'health' | 'site';

export interface Metrics {
  /** Counts the request when its response is complete or its connection is lost (status 499). */
  observe(response: ServerResponse, startedAt: number, routeClass: () => RouteClass): void;
  readonly api: MetricsApi;
  /** Plugins add their metrics here. */
  forOwner(owner: string): MetricsApi;
  /** All metrics in Prometheus's text format: requests by class and status, durations by class, process and plugin metrics. */
  expose(): Promise<string>;
}

interface OwnCollector {
  readonly collector: MetricsCollector;
  /** Slug of the plugin, or `host`. */
  readonly owner: string;
}

/** Upper bounds in seconds; requests to models can take minutes. */
const bucketBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180];

/** Milliseconds a plugin's collector may take. */
const collectorLimit = 3_000;

/** Metrics of this process; scrape each node. */
export function createMetrics({
  clock,
  log,
  warn = () => undefined,
}: {
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly log: Logger;
  /** Called with an owner and a sentence about metrics that are left out. */
  readonly warn?: (owner: string, message: string) => void;
}): Metrics {
  const collectors = new Set<OwnCollector>();
  const loadRequests = lazy(createRequestMetrics);
  const loadProcess = lazy(createProcessMetrics);

  /** A plugin's metrics; empty if it fails, so that one plugin cannot hide the others' metrics. */
  async function collect({ collector, owner }: OwnCollector): Promise<string> {
    let undo: (() => void) | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      undo = clock.after(collectorLimit, () =>
        reject(new Error(`The collector did not end within ${collectorLimit} ms.`)),
      );
    });
    try {
      const collected = await Promise.race([collector(), late]);
      const { text, refused } = await printCollected(collected);
      for (const name of refused)
        warn(
          owner,
          `The metric '${name}' is left out: names have letters, digits, '_' and ':' alone. ` +
            `Begin it with the plugin's slug, written with '_' for '-'.`,
        );
      return text;
    } catch (error) {
      log.warn('Failed to collect metrics of a plugin', { event: 'plugin_metrics_failed', plugin: owner, error });
      return '';
    } finally {
      undo?.();
    }
  }

  const forOwner = (owner: string): MetricsApi => ({
    add(collector) {
      const own = { collector, owner };
      collectors.add(own);
      return () => void collectors.delete(own);
    },
  });

  return {
    api: forOwner('host'),
    forOwner,
    observe(response, startedAt, routeClass) {
      response.once('close', () => {
        const status = response.writableFinished ? response.statusCode : 499;
        void loadRequests().then(({ count }) => count(routeClass(), status, (clock.now() - startedAt) / 1000));
      });
    },
    async expose() {
      const registries = [(await loadRequests()).registry, await loadProcess()];
      const texts = await Promise.all([
        ...registries.map(async (registry) => (await registry.metrics()).trim()),
        ...[...collectors].map(collect),
      ]);
      return [...texts.filter((text) => text !== ''), ''].join('\n');
    },
  };
}

async function createRequestMetrics() {
  const { Counter, Histogram, Registry } = await loadPrometheus();
  const registry = new Registry();
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Requests served; status 499: the caller hung up.',
    labelNames: ['class', 'status'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the start of a request to the end of its response.',
    labelNames: ['class'],
    buckets: bucketBounds,
    registers: [registry],
  });
  const count = (routeClass: RouteClass, status: number, seconds: number): void => {
    requests.inc({ class: routeClass, status });
    durations.observe({ class: routeClass }, seconds);
  };
  return () => ({ registry, count });
}

/** From the first scrape on. */
async function createProcessMetrics() {
  const { Registry, collectDefaultMetrics } = await loadPrometheus();
  const register = new Registry();
  collectDefaultMetrics({ register });
  return () => register;
}

/** `GET /metrics`, for local callers, or with `Authorization: Bearer <METRICS_TOKEN>`. */
export function createMetricsHandler({
  metrics,
  token,
}: {
  readonly metrics: Metrics;
  readonly token: string | null;
}): RequestHandler {
  return async (request, response) => {
    if (!isLocalRequest(request) && !hasToken(request, token)) {
      response
        .status(403)
        .type('text/plain')
        .send('Metrics are available to local callers, or with METRICS_TOKEN as a Bearer token.\n');
      return;
    }
    response
      .set('Cache-Control', 'no-store')
      .type('text/plain; version=0.0.4; charset=utf-8')
      .send(await metrics.expose());
  };
}

/** Whether the caller is on this machine. A local proxy is a local peer too, but the requests it forwards are not local. */
export function isLocalRequest(request: IncomingMessage): boolean {
  const forwarded = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'].some(
    (name) => request.headers[name] !== undefined,
  );
  return !forwarded && /^(::ffff:)?127\.|^::1$/.test(request.socket.remoteAddress ?? '');
}

function hasToken(request: IncomingMessage, token: string | null): boolean {
  const given = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
  if (token === null || given === undefined) return false;
  return isSameSecret(given, token);
}

/** Loads prom-client with the first metric of this process, because it is not needed to start. */
const loadPrometheus = lazyValue(async () => (await import('prom-client')).default);

/** In Prometheus's text format, without a line break at the end. */
interface PrintedMetrics {
  readonly text: string;
  /** Names that Prometheus does not allow. One of them would cost the whole scrape, so they are left out. */
  readonly refused: readonly string[];
}

const namePattern = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;

/** Prints what a collector returned. @throws Error for metrics of another form. */
async function printCollected(collected: Awaited<ReturnType<MetricsCollector>>): Promise<PrintedMetrics> {
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
