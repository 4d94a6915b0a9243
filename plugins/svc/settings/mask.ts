/** What may be shown of a secret (D3): its last four characters when it is long enough to keep the rest secret. */
export function mask(secret: string): string {
  return secret.length >= 12 ? `ends in ${secret.slice(-4)}` : 'saved';
}
