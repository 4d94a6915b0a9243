/** What responses of the service carry, for scripts of other sites to read (D49). */
export const exposedHeaders = [
  'X-SVC-Total',
  'X-SVC-TotalPages',
  'X-SVC-Ignored-Params',
  'X-SVC-Usage-Estimated',
  'X-SVC-Finish-Reason',
  'Retry-After',
] as const;

const maxNames = 50;
/** Maximum lengths: of a name before encoding, and of the list after it. Many clients read only 8 KB of headers. */
const maxLength = { name: 60, list: 2000 } as const;

/**
 * Response headers, each only when it applies: `X-SVC-Ignored-Params` (D8), `X-SVC-Usage-Estimated` (D25) and
 * `X-SVC-Finish-Reason` (`length` or `content_filter`) of a text that is not complete.
 * Parameter names come from the caller: other characters are percent-encoded, and a long list is cut.
 */
export function responseHeaders(result: {
  readonly ignored: readonly string[];
  readonly usageEstimated?: boolean;
  readonly finish?: string | undefined;
}): Record<string, string> {
  const names = headerList(result.ignored);
  return {
    ...(names !== '' && { 'X-SVC-Ignored-Params': names }),
    ...(result.usageEstimated === true && { 'X-SVC-Usage-Estimated': 'true' }),
    ...(result.finish !== undefined && { 'X-SVC-Finish-Reason': result.finish }),
  };
}

function headerList(ignored: readonly string[]): string {
  let list = '';
  for (const name of [...new Set(ignored)].slice(0, maxNames).map(headerName)) {
    const longer = list === '' ? name : `${list}, ${name}`;
    if (longer.length > maxLength.list) break;
    list = longer;
  }
  return list;
}

function headerName(name: string): string {
  return name
    .slice(0, maxLength.name)
    .replace(/[^\w.[\]-]/gu, (character) => encodeURIComponent(character.replace(/\p{Surrogate}/u, '\ufffd')));
}
