/** What an answer says, by a program that is not ours. `in` counts cached tokens, `out` counts thinking. */
export interface Said {
  readonly text: string;
  readonly refusal: string;
  readonly reasoning?: string;
  /** Citations. */
  readonly notes?: number;
  readonly calls: readonly Call[];
  readonly finish: string | null;
  readonly usage?: SaidUsage | null;
}

export interface SaidUsage {
  readonly in: number;
  readonly out: number;
  readonly cached?: number;
  readonly reasoning?: number;
}

export interface Call {
  readonly id?: string;
  readonly name: string;
  readonly args: unknown;
}

/** One recorded request to a vendor's own server, with what it answered. */
export interface Exchange {
  readonly id: string;
  readonly vendor: string;
  readonly path: string;
  readonly stream: boolean;
  readonly status: number;
  readonly type: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly request: Readonly<Record<string, unknown>> | null;
  readonly json?: unknown;
  readonly text?: string;
  readonly said?: Said;
}

export const bodyOf = ({ json, text }: Exchange): string => text ?? JSON.stringify(json);

/** The differences between what a vendor said and what came out, as a sentence. Null without any. */
export function compareSaid(expected: Said, got: Said): string | null {
  const differences = [
    differ('text', collapse(expected.text), collapse(got.text)),
    differ('refusal', collapse(expected.refusal), collapse(got.refusal)),
    expected.reasoning ? differ('reasoning', collapse(expected.reasoning), collapse(got.reasoning ?? '')) : null,
    expected.notes ? differ('citations', expected.notes, got.notes ?? 0) : null,
    differ('calls', expected.calls.map(callText), got.calls.map(callText)),
    expected.calls.every(({ id }, index) => id === undefined || id === got.calls[index]?.id) ? null : 'ids of calls',
    // Nothing where the other program has no word for it.
    !expected.finish ? null : differ('finish', expected.finish, got.finish),
    expected.usage ? compareUsage(expected.usage, got.usage) : null,
  ].filter((difference) => difference !== null);
  return differences.length === 0 ? null : differences.join('; ');
}

export function compareUsage(expected: SaidUsage, got: SaidUsage | null | undefined): string | null {
  const figures = (usage: SaidUsage | null | undefined): number[] =>
    usage
      ? [usage.in, usage.out, usage.cached ?? 0, expected.reasoning === undefined ? 0 : (usage.reasoning ?? 0)]
      : [];
  return differ('usage (in, out, cached, reasoning)', figures(expected), figures(got));
}

export function differ(name: string, expected: unknown, got: unknown): string | null {
  const [wanted = '', said = ''] = [JSON.stringify(expected), JSON.stringify(got)];
  return wanted === said ? null : `${name}: ${wanted.slice(0, 90)} became ${said.slice(0, 90)}`;
}

const callText = ({ name, args }: Call): string => `${name} ${JSON.stringify(sorted(args))}`;

export const collapse = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** A JSON value with the members of its objects in one order. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}

/** A text as JSON, or the text itself. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
