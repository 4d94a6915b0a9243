import { readFile } from 'node:fs/promises';
import autocannon from 'autocannon';

export interface Target {
  readonly url: string;
  /** The process that answers, when its processor time is wanted. */
  readonly pid?: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Default: POST. */
  readonly method?: 'GET' | 'POST';
  /** Sent as JSON; omitted with GET. */
  readonly body?: unknown;
}

export interface LoadResult {
  /** Answers a second. */
  readonly rate: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Milliseconds of processor time the process spent on one answer, all its threads together. Hardly moves when the machine is busy with other things. NaN without a `pid`. */
  readonly processor: number;
}

/**
 * Calls the target from so many callers, each waiting for its answer before it asks again.
 *
 * @throws Error when any answer is not a 2xx: the figure of a server that refuses means nothing.
 */
export async function load(
  target: Target,
  { callers, seconds }: { readonly callers: number; readonly seconds: number },
): Promise<LoadResult> {
  const before = await processorTime(target.pid);
  const result = await autocannon({
    url: target.url,
    ...requestOf(target),
    connections: callers,
    duration: seconds,
  });
  const bad = result.non2xx + result.errors + result.timeouts;
  if (bad > 0) throw new Error(`${target.url}: ${String(bad)} of ${String(result.requests.total)} requests failed.`);
  const processor = ((await processorTime(target.pid)) - before) / result.requests.total;
  return { rate: result.requests.total / result.duration, p50: result.latency.p50, p99: result.latency.p99, processor };
}

/** User and system time of a process so far, in milliseconds; the kernel counts in hundredths of a second. */
export async function processorTime(pid: number | undefined): Promise<number> {
  if (pid === undefined) return Number.NaN;
  const stat = await readFile(`/proc/${String(pid)}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** One request, to see that the target does what the benchmark believes. */
export async function probe(target: Target): Promise<unknown> {
  const response = await fetch(target.url, {
    ...requestOf(target),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${target.url} answered ${String(response.status)}: ${text.slice(0, 500)}`);
  return JSON.parse(text) as unknown;
}

function requestOf({ method = 'POST', headers, body }: Target): {
  readonly method: 'GET' | 'POST';
  readonly headers: Record<string, string>;
  readonly body?: string;
} {
  return method === 'GET'
    ? { method, headers: { ...headers } }
    : { method, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}
