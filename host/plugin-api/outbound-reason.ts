import { isRecord } from './values.ts';

/** Causes of causes to look at: they may form a circle. */
const mostCauses = 8;

/**
 * Why an outbound request failed, with the names and addresses of hosts, or null for any other error. The message of such an error
 * names neither, and is the same for an open port and a closed one: anyone may read it. Show the reason to administrators alone (D23).
 *
 * @param error of `host.http`, or one that it caused
 */
export function outboundReason(error: unknown): string | null {
  for (
    let current = error, depth = 0;
    isRecord(current) && depth < mostCauses;
    depth += 1, current = current['cause']
  ) {
    const { code, reason } = current;
    if (typeof code === 'string' && code.startsWith('outbound_') && typeof reason === 'string') return reason;
  }
  return null;
}
