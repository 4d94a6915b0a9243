import type { Clock } from '#plugin-api';
import type { Signer } from './signer.ts';

/** Proves that this site recently issued a form. Not bound to a visitor, because caches may store pages. */
export interface PageNonces {
  /** @param id of the form; none where the site has one */
  issue(...id: number[]): Promise<string>;
  isValid(nonce: string, ...id: number[]): Promise<boolean>;
}

const macBytes = 16;

/** @param init `ticks`: how many periods of `tick` milliseconds a nonce is valid for; the current one counts. */
export function createPageNonces({
  signer,
  clock,
  purpose,
  tick,
  ticks,
}: {
  readonly signer: Signer;
  readonly clock: Pick<Clock, 'now'>;
  readonly purpose: string;
  readonly tick: number;
  readonly ticks: number;
}): PageNonces {
  const current = (): number => Math.floor(clock.now() / tick);
  return {
    issue: async (...id) =>
      (await signer.sign(purpose, [...id, current()])).subarray(0, macBytes).toString('base64url'),
    async isValid(nonce, ...id) {
      // Earlier versions put the day in front.
      const [, mac] = /^(?:\d{1,6}\.)?([\w-]{22})$/.exec(nonce) ?? [];
      if (mac === undefined) return false;
      for (let age = 0; age < ticks; age += 1)
        if (await signer.isSigned(Buffer.from(mac, 'base64url'), purpose, [...id, current() - age])) return true;
      return false;
    },
  };
}
