const browsers = [
  ['Edg', 'Edge'],
  ['OPR', 'Opera'],
  ['Firefox', 'Firefox'],
  ['Chrome', 'Chrome'],
  ['Safari', 'Safari'],
  ['curl', 'curl'],
] as const;
const systems = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const;

/** A few words for a `User-Agent`: `Firefox on Windows`. The first name that fits counts: Chrome calls itself Safari too. */
export function describeBrowser(userAgent: string): string {
  const find = (names: readonly (readonly [string, string])[]): string | undefined =>
    names.find(([token]) => userAgent.includes(token))?.[1];
  const [browser, system] = [find(browsers), find(systems)];
  if (browser !== undefined) return system === undefined ? browser : `${browser} on ${system}`;
  return system ?? (userAgent === '' ? 'Unknown browser' : userAgent.slice(0, 60));
}
