import { Secret, TOTP } from 'otpauth';

/** The code that an authenticator app shows. @param secret base32, spaces do not matter; @param at milliseconds since the epoch. */
export function totpCode(secret: string, at: number): string {
  return new TOTP({ secret: Secret.fromBase32(secret.replace(/\s/g, '')) }).generate({ timestamp: at });
}
