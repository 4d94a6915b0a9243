const longest = 500;
const secretNames = /key|token|secret|password/i;

// What keys look like: the prefixes providers give them, bearer tokens, and long runs that mix letters and digits
// (Azure's keys have no prefix). UUIDs survive, so that a request id in a message can still be quoted to the provider.
const keyLike: readonly RegExp[] = [
  /\b(?:sk|rk|pk|xai|gsk|org)-[\w*.-]{3,}[\w*]/gi,
  /\bAIza[\w*-]{6,}/g,
  /\bBearer\s+[^\s"',]+/gi,
  /\b(?=\w*\d)(?=\w*[a-z])\w{32,}\b/gi,
];

/**
 * Makes a far end's sentence fit to be passed on: saved secrets and whatever looks like a key are cut out (D3),
 * control characters and line breaks become spaces, and it ends after 500 characters.
 */
export function cleanMessage(text: string, settings: Readonly<Record<string, unknown>>): string {
  let clean = text;
  for (const secret of secretsOf(settings)) clean = clean.replaceAll(secret, '[redacted]');
  for (const pattern of keyLike) clean = clean.replace(pattern, '[redacted]');
  clean = clean.replace(/[\u0000-\u001f\u007f\s]+/g, ' ').trim();
  return clean.length > longest ? `${clean.slice(0, longest - 1)}…` : clean;
}

function secretsOf(settings: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(settings)
    .filter(([name, value]) => secretNames.test(name) && typeof value === 'string' && value.length >= 4)
    .map(([, value]) => value as string);
}
