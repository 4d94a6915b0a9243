import type { Secret, TOTP } from 'otpauth';

/** Seconds that a code is valid, as every authenticator app expects. */
const period = 30;

/** A code of the previous and of the next step is accepted too, for clocks that differ by up to 30 seconds. */
const drift = 1;

/** A new random secret: 160 bits in base32, 32 characters. */
export async function generateTotpSecret(): Promise<string> {
  const { Secret } = await import('otpauth');
  return new Secret({ size: 20 }).base32;
}

/**
 * The `otpauth://` URI of the QR code.
 *
 * @param issuer name of the site, @param account login of the user; both appear in the app.
 */
export async function totpUri(init: {
  readonly secret: string;
  readonly issuer: string;
  readonly account: string;
}): Promise<string> {
  return (await createTotp(init.secret, { issuer: init.issuer, label: init.account })).toString();
}

/**
 * The number of the 30-second step whose code this is; null: a wrong code. Compares in constant time.
 *
 * @param code six digits, @param now milliseconds since the epoch.
 */
export async function findTotpStep(init: {
  readonly secret: string;
  readonly code: string;
  readonly now: number;
}): Promise<number | null> {
  if (!/^\d{6}$/.test(init.code)) return null;
  const delta = (await createTotp(init.secret)).validate({ token: init.code, timestamp: init.now, window: drift });
  return delta === null ? null : Math.floor(init.now / (period * 1000)) + delta;
}

/** SHA-1 and six digits: several apps ignore other values of the URI. */
async function createTotp(secret: string, labels: { issuer?: string; label?: string } = {}): Promise<TOTP> {
  const { TOTP, Secret } = await import('otpauth');
  const key: Secret = Secret.fromBase32(secret);
  return new TOTP({ ...labels, secret: key, algorithm: 'SHA1', digits: 6, period });
}
