import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Undo } from '#plugin-api';
import type { Database } from './database/database.ts';
import { observeCallbacks } from './hooks/callbacks.ts';

/** `step`: what the host does before a handler runs. */
export type SpanKind = 'step' | 'handler' | 'hook' | 'query' | 'outbound' | 'render';

/** A part of a request that took time. Milliseconds. */
export interface TraceSpan {
  readonly kind: SpanKind;
  /** Name of the hook, the statement, method and URL without a query, template or route. */
  readonly name: string;
  /** The plugin whose callback ran; null if unknown. */
  readonly owner: string | null;
  /** Since the request began. */
  readonly start: number;
  readonly duration: number;
  /** Index of the enclosing span; null at the top. */
  readonly parent: number | null;
}

export interface Trace {
  /** The id of the request. */
  readonly id: string;
  /** Method and path. */
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly duration: number;
  /** Percent of the duration that spans cover. */
  readonly explained: number;
  /** Whether there were more spans than are stored. */
  readonly isCut: boolean;
  readonly spans: readonly TraceSpan[];
}

/** A trace that is being recorded. */
export interface Recording {
  /** Milliseconds by kind so far, for `Server-Timing`. Time that overlaps counts once. */
  totals(): ReadonlyMap<SpanKind, { readonly count: number; readonly duration: number }>;
  /** Ends it. Later calls have no effect. */
  end(): void;
}

export interface Tracer {
  /** Records what runs in `work` and after it, until `end`. */
  record<Result>(about: Pick<Trace, 'id' | 'name' | 'startedAt'>, work: (recording: Recording) => Result): Result;
  /** Runs `work` as a span if a trace is being recorded here; else it only runs it. */
  span<Result>(kind: SpanKind, name: string, work: () => Result): Result;
  /** Begins a span that lasts until the trace ends, if one is being recorded here. */
  spanToEnd(kind: SpanKind, name: string): void;
  /** The last traces of this process, newest first. */
  list(): readonly Trace[];
}

/** Traces, and spans of each, that a process stores. */
const mostTraces = 50;
const mostSpans = 2_000;

interface MutableSpan extends Omit<TraceSpan, 'duration'> {
  duration: number | null;
}

interface Running {
  begin: number;
  readonly spans: MutableSpan[];
  isCut: boolean;
  isOver: boolean;
}

interface Frame {
  readonly trace: Running;
  readonly parent: number | null;
}

/** Shared by all hosts of the process. Enabled only while a trace is recorded: it slows every promise. */
const storage = new AsyncLocalStorage<Frame>();
let recordings = 0;
const undos: Undo[] = [];

/** Finds where the time of single requests goes. While no request is recorded, it costs one comparison at each span. */
export function createTracer({ database }: { readonly database: Pick<Database, 'observeQueries'> }): Tracer {
  const traces: Trace[] = [];

  return {
    span: (kind, name, work) => (recordings === 0 ? work() : runSpan({ kind, name, owner: null }, work)),
    spanToEnd: (kind, name) => void (recordings > 0 && openSpan({ kind, name, owner: null })),
    list: () => [...traces].reverse(),
    record(about, work) {
      if (recordings === 0) startObserving();
      database.observeQueries(beginQuery);
      recordings += 1;
      const trace: Running = { begin: 0, spans: [], isCut: false, isOver: false };
      const end = (): void => {
        if (trace.isOver) return;
        trace.isOver = true;
        recordings -= 1;
        if (recordings === 0) stopObserving();
        traces.push({ ...about, ...finish(trace) });
        if (traces.length > mostTraces) traces.shift();
      };
      return storage.run({ trace, parent: null }, () => {
        // The storage, which starts here, is no part of the request.
        trace.begin = performance.now();
        return work({ totals: () => sumByKind(trace), end });
      });
    },
  };
}

type SpanInit = Pick<TraceSpan, 'kind' | 'name' | 'owner'>;

function runSpan<Result>(init: SpanInit, work: () => Result): Result {
  const frame = storage.getStore();
  const index = frame === undefined ? null : addSpan(frame, init);
  if (frame === undefined || index === null) return work();
  const end = (): void => endSpan(frame.trace, index);
  try {
    const result = storage.run({ trace: frame.trace, parent: index }, work);
    // Only the caller handles a rejection.
    if (result instanceof Promise) result.then(end, end);
    else end();
    return result;
  } catch (error) {
    end();
    throw error;
  }
}

/** One function for all hosts: a statement is observed once. */
const beginQuery = (sql: string): (() => void) => openSpan({ kind: 'query', name: sql, owner: null });

/** Returns the function that ends the span. */
function openSpan(init: SpanInit): () => void {
  const frame = recordings === 0 ? undefined : storage.getStore();
  const index = frame === undefined ? null : addSpan(frame, init);
  return () => {
    if (frame !== undefined && index !== null) endSpan(frame.trace, index);
  };
}

function addSpan({ trace, parent }: Frame, { kind, name, owner }: SpanInit): number | null {
  if (trace.isOver) return null;
  if (trace.spans.length >= mostSpans) {
    trace.isCut = true;
    return null;
  }
  const start = performance.now() - trace.begin;
  return trace.spans.push({ kind, name: name.slice(0, 500), owner, start, duration: null, parent }) - 1;
}

function endSpan({ spans, begin, isOver }: Running, index: number): void {
  const span = spans[index];
  if (span && span.duration === null && !isOver) span.duration = performance.now() - begin - span.start;
}

/** Spans that have not ended, such as an upstream's stream that the client left, end with the request. */
function finish({ spans, begin, isCut }: Running): Pick<Trace, 'duration' | 'explained' | 'isCut' | 'spans'> {
  const duration = performance.now() - begin;
  const ended = spans.map((span) => ({ ...span, duration: span.duration ?? duration - span.start }));
  return { duration, isCut, spans: ended, explained: duration === 0 ? 100 : (coveredBy(ended) / duration) * 100 };
}

function sumByKind({ spans, begin }: Running): Map<SpanKind, { count: number; duration: number }> {
  const now = performance.now() - begin;
  const kinds = new Set(spans.map(({ kind }) => kind));
  return new Map(
    [...kinds].map((kind) => {
      const own = spans.filter((span) => span.kind === kind);
      const duration = coveredBy(own.map((span) => ({ ...span, duration: span.duration ?? now - span.start })));
      return [kind, { count: own.length, duration }];
    }),
  );
}

/** Milliseconds that at least one of the spans covers. */
function coveredBy(spans: readonly Pick<TraceSpan, 'start' | 'duration'>[]): number {
  let covered = 0;
  let end = 0;
  for (const { start, duration } of [...spans].sort((left, right) => left.start - right.start)) {
    covered += Math.max(0, start + duration - Math.max(start, end));
    end = Math.max(end, start + duration);
  }
  return covered;
}

interface UndiciMessage {
  readonly request: { readonly method?: string; readonly origin?: string | URL; readonly path?: string };
}

/** Observes callbacks of hooks, and requests of every undici and `fetch` of the process. */
function startObserving(): void {
  observeCallbacks(({ hook, owner }, run) => runSpan({ kind: 'hook', name: hook, owner }, run));
  undos.push(() => observeCallbacks(null));
  const open = new WeakMap<object, () => void>();
  const listen = (channel: string, listener: (message: UndiciMessage) => void): void => {
    const onMessage = (message: unknown): void => listener(message as UndiciMessage);
    subscribe(channel, onMessage);
    undos.push(() => void unsubscribe(channel, onMessage));
  };
  listen('undici:request:create', ({ request }) => {
    const { method = 'GET', origin = '', path = '' } = request;
    const name = `${method} ${String(origin)}${path.split('?', 1)[0] ?? ''}`;
    open.set(request, openSpan({ kind: 'outbound', name, owner: null }));
  });
  for (const channel of ['undici:request:trailers', 'undici:request:error'])
    listen(channel, ({ request }) => open.get(request)?.());
}

function stopObserving(): void {
  for (const undo of undos.splice(0)) undo();
  storage.disable();
}
