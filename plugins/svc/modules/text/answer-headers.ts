const mostNames = 50;
const longestName = 100;

/**
 * Headers of a text answer, each only when it applies: `X-SVC-Ignored-Params` (D8) and `X-SVC-Usage-Estimated` (D25).
 * Names come from the caller: what a header cannot carry is percent-encoded, and a long list is cut.
 */
export function answerHeaders(answer: { readonly ignored: readonly string[]; readonly usageEstimated: boolean }): Record<string, string> {
  const names = [...new Set(answer.ignored)].slice(0, mostNames).map(headerName);
  return {
    ...(names.length > 0 && { 'X-SVC-Ignored-Params': names.join(', ') }),
    ...(answer.usageEstimated && { 'X-SVC-Usage-Estimated': 'true' }),
  };
}

function headerName(name: string): string {
  return name.slice(0, longestName).replace(/[^\w.[\]-]/gu, (character) => encodeURIComponent(character.replace(/\p{Surrogate}/u, '\ufffd')));
}
