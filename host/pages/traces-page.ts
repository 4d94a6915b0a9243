import { withNotice, type AdminPageBody, type AdminRequest } from '#plugin-api';
import { readQuery } from './forms.ts';

interface Span {
  readonly kind: string;
  readonly name: string;
  readonly owner: string | null;
  readonly start: number;
  readonly duration: number;
  readonly parent: number | null;
}

interface Trace {
  readonly id: string;
  readonly name: string;
  readonly startedAt: number;
  readonly duration: number;
  readonly explained: number;
  readonly isCut: boolean;
  readonly spans: readonly Span[];
}

type Headers = Readonly<{ cookie?: string | undefined }>;

export interface TracesPageDependencies {
  /** The traces of this process, newest first. */
  readonly list: () => readonly Trace[];
  readonly start: (headers: Headers) => boolean;
  readonly stop: (headers: Headers) => void;
  readonly isStarted: (headers: Headers) => boolean;
  readonly createHeader: () => string;
}

const kindLabels: Readonly<Record<string, string>> = {
  step: 'Step of the host',
  handler: 'Handler',
  hook: 'Hook',
  query: 'Query',
  outbound: 'Outbound request',
  render: 'Template',
  call: 'Call',
};

/** More would make a page that no browser shows quickly. */
const maxShown = 500;

/** The last traced requests, and one of them as a waterfall. */
export function createTracesPage({
  list,
  start,
  stop,
  isStarted,
  createHeader,
}: TracesPageDependencies): AdminPageBody {
  return {
    async render(request) {
      const id = readQuery(request, 'id');
      const found = list().find((trace) => trace.id === id);
      if (found) return { template: 'admin/pages/trace', data: showTrace(found), title: found.name };
      return {
        template: 'admin/pages/traces',
        data: {
          isStarted: isStarted(headersOf(request)),
          isMissing: id !== '',
          traces: list().map((trace) => ({
            ...trace,
            milliseconds: trace.duration.toFixed(1),
            percent: Math.floor(trace.explained),
            spans: trace.spans.length,
            href: `?${new URLSearchParams({ id: trace.id }).toString()}`,
          })),
        },
      };
    },
    actions: {
      async start(request) {
        return start(headersOf(request))
          ? withNotice(
              'success',
              'The requests of this browser are traced for an hour. Open the slow page, then come back.',
            )
          : withNotice('error', 'Only a browser that signed in with a session can be traced.');
      },
      async stop(request) {
        stop(headersOf(request));
        return withNotice('success', 'The requests of this browser are no longer traced.');
      },
      header: async () => ({ reveal: { label: 'Header, for an hour', value: `X-SVC-Trace: ${createHeader()}` } }),
    },
  };
}

function headersOf({ headers }: AdminRequest): Headers {
  return { cookie: headers['cookie'] };
}

function showTrace(trace: Trace): Record<string, unknown> {
  const rows = joinRepeated(trace.spans);
  const scale = (milliseconds: number): number => Math.round((milliseconds / Math.max(trace.duration, 0.001)) * 1000);
  return {
    ...trace,
    milliseconds: trace.duration.toFixed(1),
    percent: Math.floor(trace.explained),
    totals: sumTotals(trace.spans),
    isCut: trace.isCut || rows.length > maxShown,
    spans: rows.slice(0, maxShown).map(({ spans: [first, ...others], depth }) => {
      const spans = [first, ...others];
      return {
        ...first,
        times: others.length === 0 ? null : spans.length,
        label: `${'\u2003'.repeat(Math.min(depth, 10))}${kindLabels[first.kind] ?? first.kind}`,
        milliseconds: spans.reduce((sum, { duration }) => sum + duration, 0).toFixed(2),
        // By position: what is drawn there twice is drawn once.
        bars: [...new Map(spans.map(({ start, duration }) => [scale(start), Math.max(2, scale(duration))]))].map(
          ([x, width]) => ({ x, width }),
        ),
      };
    }),
  };
}

/** Spans that follow each other and differ in time alone, such as the same query for each row of a list, are one row. */
interface Row {
  readonly spans: [Span, ...Span[]];
  readonly depth: number;
}

function joinRepeated(spans: readonly Span[]): Row[] {
  const withParts = new Set(spans.map(({ parent }) => parent));
  const depths: number[] = [];
  const rows: Row[] = [];
  let former: Span | undefined;
  for (const [index, span] of spans.entries()) {
    const { kind, name, owner, parent } = span;
    const depth = parent === null ? 0 : (depths[parent] ?? 0) + 1;
    depths.push(depth);
    const hasParts = withParts.has(index);
    const isRepeated =
      former?.kind === kind && former.name === name && former.owner === owner && former.parent === parent;
    if (isRepeated && !hasParts) rows.at(-1)?.spans.push(span);
    else rows.push({ spans: [span], depth });
    former = hasParts ? undefined : span;
  }
  return rows;
}

/** By kind and owner, longest first. A span within another one counts for both. */
function sumTotals(spans: readonly Span[]): { label: string; count: number; milliseconds: string }[] {
  const totals = new Map<string, { count: number; duration: number }>();
  for (const { kind, owner, duration } of spans) {
    const label = `${kindLabels[kind] ?? kind}${owner === null ? '' : ` of ${owner}`}`;
    const before = totals.get(label) ?? { count: 0, duration: 0 };
    totals.set(label, { count: before.count + 1, duration: before.duration + duration });
  }
  return [...totals]
    .sort(([, left], [, right]) => right.duration - left.duration)
    .map(([label, { count, duration }]) => ({ label, count, milliseconds: duration.toFixed(1) }));
}
