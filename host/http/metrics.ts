import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import type { Clock, Logger, MetricsApi, MetricsCollector } from '#plugin-api';

/** A small, fixed set of URL classes: a path as a label would let callers fill the memory. */
export type RouteClass = 'rest' | 'admin' | 'assets' | 'health' | 'site';

export interface Metrics {
  /** Counts the request when its response is complete or its connection is lost (status 499). */
  observe(response: ServerResponse, startedAt: number, routeClass: () => RouteClass): void;
  /** Plugins add their metrics here. */
  readonly api: MetricsApi;
  /** All metrics in Prometheus's text format: requests by class and status, durations by class, process and plugin metrics. */
  expose(): Promise<string>;
}

/** Upper bounds in seconds; requests to models can take minutes. */
const bucketBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180];

/** Milliseconds a plugin's collector may take. */
const collectorLimit = 3_000;

interface Durations {
  readonly counts: number[];
  sum: number;
  count: number;
}

/** Metrics of this process; scrape each node. prom-client, for the process metrics, loads at the first scrape. */
export function createMetrics({
  clock,
  log,
}: {
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly log: Logger;
}): Metrics {
  const requests = new Map<string, number>();
  const durations = new Map<RouteClass, Durations>();
  const collectors = new Set<MetricsCollector>();
  let processMetrics: Promise<{ metrics(): Promise<string> }> | undefined;

  function count(routeClass: RouteClass, status: number, seconds: number): void {
    const labels = `class="${routeClass}",status="${status}"`;
    requests.set(labels, (requests.get(labels) ?? 0) + 1);
    const histogram = durations.get(routeClass) ?? { counts: bucketBounds.map(() => 0), sum: 0, count: 0 };
    durations.set(routeClass, histogram);
    const index = bucketBounds.findIndex((bound) => seconds <= bound);
    if (index !== -1) histogram.counts[index] = (histogram.counts[index] ?? 0) + 1;
    histogram.sum += seconds;
    histogram.count += 1;
  }

  /** A plugin's metrics; empty if it fails, so that one plugin cannot hide the others' metrics. */
  async function collect(collector: MetricsCollector): Promise<string> {
    let undo: (() => void) | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      undo = clock.after(collectorLimit, () =>
        reject(new Error(`The collector did not end within ${collectorLimit} ms.`)),
      );
    });
    try {
      return (await Promise.race([collector(), late])).trim();
    } catch (error) {
      log.warn('Failed to collect metrics of a plugin', { event: 'plugin_metrics_failed', error });
      return '';
    } finally {
      undo?.();
    }
  }

  return {
    api: {
      add(collector) {
        collectors.add(collector);
        return () => void collectors.delete(collector);
      },
    },
    observe(response, startedAt, routeClass) {
      response.once('close', () =>
        count(routeClass(), response.writableFinished ? response.statusCode : 499, (clock.now() - startedAt) / 1000),
      );
    },
    async expose() {
      processMetrics ??= collectProcessMetrics();
      const [own, ...added] = await Promise.all([(await processMetrics).metrics(), ...[...collectors].map(collect)]);
      return [
        ...exposeRequests(requests),
        ...exposeDurations(durations),
        own.trim(),
        ...added.filter((text) => text !== ''),
        '',
      ].join('\n');
    },
  };
}

async function collectProcessMetrics() {
  const { default: prometheus } = await import('prom-client');
  const register = new prometheus.Registry();
  prometheus.collectDefaultMetrics({ register });
  return register;
}

function* exposeRequests(requests: ReadonlyMap<string, number>): Iterable<string> {
  yield '# HELP http_requests_total Requests served; status 499: the caller hung up.';
  yield '# TYPE http_requests_total counter';
  for (const [labels, total] of requests) yield `http_requests_total{${labels}} ${total}`;
}

function* exposeDurations(durations: ReadonlyMap<RouteClass, Durations>): Iterable<string> {
  yield '# HELP http_request_duration_seconds Time from the start of a request to the end of its response.';
  yield '# TYPE http_request_duration_seconds histogram';
  for (const [routeClass, { counts, sum, count }] of durations) {
    let below = 0;
    for (const [index, bound] of bucketBounds.entries()) {
      below += counts[index] ?? 0;
      yield `http_request_duration_seconds_bucket{class="${routeClass}",le="${bound}"} ${below}`;
    }
    yield `http_request_duration_seconds_bucket{class="${routeClass}",le="+Inf"} ${count}`;
    yield `http_request_duration_seconds_sum{class="${routeClass}"} ${sum}`;
    yield `http_request_duration_seconds_count{class="${routeClass}"} ${count}`;
  }
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
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}
