import autocannon from 'autocannon';

export interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface LoadResult {
  /** Answers a second. */
  readonly rate: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/**
 * POSTs the target from so many callers, each waiting for its answer before it asks again.
 *
 * @throws Error when any answer is not a 2xx: the figure of a server that refuses means nothing.
 */
export async function load(target: Target, { callers, seconds }: { readonly callers: number; readonly seconds: number }): Promise<LoadResult> {
  const result = await autocannon({
    url: target.url,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...target.headers },
    body: JSON.stringify(target.body),
    connections: callers,
    duration: seconds,
  });
  const bad = result.non2xx + result.errors + result.timeouts;
  if (bad > 0) throw new Error(`${target.url}: ${String(bad)} of ${String(result.requests.total)} requests failed.`);
  return { rate: result.requests.total / result.duration, p50: result.latency.p50, p99: result.latency.p99 };
}

/** One request, to see that the target does what the benchmark believes. */
export async function probe(target: Target): Promise<unknown> {
  const response = await fetch(target.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...target.headers },
    body: JSON.stringify(target.body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${target.url} answered ${String(response.status)}: ${text.slice(0, 500)}`);
  return JSON.parse(text) as unknown;
}
