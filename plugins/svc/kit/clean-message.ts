const maxLength = 500;
const secretNames = /key|token|secret|password/i;

// Patterns of keys: prefixes of providers, bearer tokens, and long sequences of letters and digits (Azure's keys have no
// prefix). UUIDs stay, because a provider may ask for the request id in a message.
const keyLike: readonly RegExp[] = [
  /\b(?:sk|rk|pk|xai|gsk|org)-[\w*.-]{3,}[\w*]/gi,
  /\bAIza[\w*-]{6,}/g,
  /\bBearer\s+[^\s"',]+/gi,
];

/**
 * Cleans an upstream message for callers: removes saved secrets and anything that looks like a key (D3), replaces control
 * characters and line breaks with spaces, and limits it to 500 characters.
 */
export function cleanMessage(text: string, settings: Readonly<Record<string, unknown>>): string {
  let clean = text;
  for (const secret of findSecrets(settings)) clean = clean.replaceAll(secret, '[redacted]');
  for (const pattern of keyLike) clean = clean.replace(pattern, '[redacted]');
  clean = clean.replace(/\w{32,}/g, (word) => (/\d/.test(word) && /[a-z]/i.test(word) ? '[redacted]' : word));
  clean = clean.replace(/[\u0000-\u001f\u007f\s]+/g, ' ').trim();
  return clean.length > maxLength ? `${clean.slice(0, maxLength - 1)}…` : clean;
}

function findSecrets(settings: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(settings)
    .filter(([name, value]) => secretNames.test(name) && typeof value === 'string' && value.length >= 4)
    .map(([, value]) => value as string);
}
