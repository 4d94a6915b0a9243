import type { Clock } from '#plugin-api';
import type { Signer } from '../../../kit/visitors/signer.ts';

/** Proof that a form came from this site, lately. It says nothing of who has it: pages may be kept by caches. */
export interface FormTokens {
  issue(): Promise<string>;
  isValid(token: string): Promise<boolean>;
}

const day = 24 * 3600_000;
/** A page that a cache kept for a day is still good the day after. */
const daysOfLife = 3;
const macBytes = 16;

export function createFormTokens({
  signer,
  clock,
}: {
  readonly signer: Signer;
  readonly clock: Pick<Clock, 'now'>;
}): FormTokens {
  const today = (): number => Math.floor(clock.now() / day);
  return {
    async issue() {
      const mac = (await signer.sign('images-form', [today()])).subarray(0, macBytes);
      return `${String(today())}.${mac.toString('base64url')}`;
    },
    async isValid(token) {
      const [, made = '', mac = ''] = /^(\d{1,6})\.([\w-]{22})$/.exec(token) ?? [];
      const age = today() - Number(made);
      return (
        made !== '' &&
        age >= 0 &&
        age < daysOfLife &&
        signer.isSigned(Buffer.from(mac, 'base64url'), 'images-form', [Number(made)])
      );
    },
  };
}
