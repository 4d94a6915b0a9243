import { clientNetwork } from '#plugin-api';

/** Bytes of each body that are not counted: ordinary requests are served while the budget is used up. */
export const freeBytes = 16_384;

/** The memory that the body of one request occupies. */
export interface BodyAccount {
  /** Reserves memory for a body of that many bytes in all. False when the budget does not hold it: nothing has changed. */
  reserve(bytes: number): boolean;
  release(): void;
}

export interface BodyBudget {
  /** @param caller its IP address counts only for an anonymous one. */
  open(caller: { readonly isAnonymous: boolean; readonly ip: string }): BodyAccount;
  /** Bytes counted now. */
  readonly held: number;
}

/**
 * The memory that request bodies of this process may occupy at once, from their first byte until their response ends.
 * Anonymous callers share a quarter of it, so that they cannot keep out callers who have signed in or sent a key, and each network
 * of them has a quarter of that share, so that no one keeps out the others. One body is accepted whatever its size while no
 * other of the network, or none at all of a known caller, is counted: the limit of its route decides.
 *
 * @param total bytes.
 */
export function createBodyBudget(total: number): BodyBudget {
  const anonymousShare = Math.floor(total / 4);
  const networkShare = Math.floor(anonymousShare / 4);
  let held = 0;
  let anonymousHeld = 0;
  const heldByNetwork = new Map<string, number>();

  /** @param network of an anonymous caller; null for a known one. */
  function fits(bytes: number, own: number, network: string | null): boolean {
    if (network === null) return held + bytes <= total || held === own;
    const ofNetwork = heldByNetwork.get(network) ?? 0;
    if (ofNetwork + bytes > networkShare && ofNetwork !== own) return false;
    return anonymousHeld + bytes <= anonymousShare && held + bytes <= total;
  }

  function holdForNetwork(network: string, bytes: number): void {
    anonymousHeld += bytes;
    const ofNetwork = (heldByNetwork.get(network) ?? 0) + bytes;
    if (ofNetwork === 0) heldByNetwork.delete(network);
    else heldByNetwork.set(network, ofNetwork);
  }

  return {
    get held() {
      return held;
    },
    open({ isAnonymous, ip }) {
      const network = isAnonymous ? clientNetwork(ip) : null;
      let own = 0;
      const change = (bytes: number): void => {
        own += bytes;
        held += bytes;
        if (network !== null) holdForNetwork(network, bytes);
      };
      return {
        reserve(bytes) {
          const more = bytes - freeBytes - own;
          if (more <= 0) return true;
          if (!fits(more, own, network)) return false;
          change(more);
          return true;
        },
        release: () => change(-own),
      };
    },
  };
}
