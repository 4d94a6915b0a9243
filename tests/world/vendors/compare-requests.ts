import { differ, sorted } from './exchange.ts';

type Body = Readonly<Record<string, unknown>>;

/**
 * What of a request did not reach the vendor as it was sent, or null. Null counts as left out, `n: 1` as none, the order of
 * members does not matter, and the model loses the prefix that names the provider. The order of messages and parts counts.
 */
export function compareRequests(sent: Body, received: Body | null): string | null {
  if (received === null) return 'nothing reached the vendor';
  const [wanted, got] = [plain(sent), plain(received)];
  const names = [...new Set([...Object.keys(wanted), ...Object.keys(got)])];
  const differences = names.flatMap((name) => differ(name, sorted(wanted[name]), sorted(got[name])) ?? []);
  return differences.length === 0 ? null : differences.join('; ');
}

function plain(body: Body): Body {
  const { n, stream, stream_options: _options, ...others } = withoutNull(body) as Body;
  // Usage at the end of a stream is asked for whether or not the caller did, since the ledger needs it.
  return { ...others, ...(n !== 1 && n !== undefined && { n }), ...(stream === true && { stream }) };
}

function withoutNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNull);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null && member !== undefined)
      .map(([name, member]) => [name, withoutNull(member)]),
  );
}
