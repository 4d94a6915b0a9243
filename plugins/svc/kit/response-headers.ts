const mostNames = 50;
/** Characters, of one name before it is encoded and of the whole list after; many clients read 8 KB of headers in all. */
const longest = { name: 60, list: 2000 } as const;

/**
 * Headers of an answer, each only when it applies: `X-SVC-Ignored-Params` (D8) and `X-SVC-Usage-Estimated` (D25).
 * Names come from the caller: what a header cannot carry is percent-encoded, and a long list is cut.
 */
export function responseHeaders(answer: {
  readonly ignored: readonly string[];
  readonly usageEstimated?: boolean;
}): Record<string, string> {
  const names = headerList(answer.ignored);
  return {
    ...(names !== '' && { 'X-SVC-Ignored-Params': names }),
    ...(answer.usageEstimated === true && { 'X-SVC-Usage-Estimated': 'true' }),
  };
}

function headerList(ignored: readonly string[]): string {
  let list = '';
  for (const name of [...new Set(ignored)].slice(0, mostNames).map(headerName)) {
    const longer = list === '' ? name : `${list}, ${name}`;
    if (longer.length > longest.list) break;
    list = longer;
  }
  return list;
}

function headerName(name: string): string {
  return name
    .slice(0, longest.name)
    .replace(/[^\w.[\]-]/gu, (character) => encodeURIComponent(character.replace(/\p{Surrogate}/u, '\ufffd')));
}
