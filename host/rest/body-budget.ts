/** Bytes of each body that are not counted: ordinary requests are served while the budget is used up. */
export const freeBytes = 16_384;

/** The memory that the body of one request occupies. */
export interface BodyAccount {
  /** Reserves memory for a body of that many bytes in all. False when the budget does not hold it: nothing has changed. */
  reserve(bytes: number): boolean;
  release(): void;
}

export interface BodyBudget {
  open(caller: { readonly isAnonymous: boolean }): BodyAccount;
  /** Bytes counted now. */
  readonly held: number;
}

/**
 * The memory that request bodies of this process may occupy at once, from their first byte until their response ends.
 * Anonymous callers share a quarter of it, so that they cannot keep out callers who have signed in or sent a key. One body of
 * a known caller is accepted whatever its size while no other is counted: the limit of its route decides.
 *
 * @param total bytes.
 */
export function createBodyBudget(total: number): BodyBudget {
  const anonymousShare = Math.floor(total / 4);
  let held = 0;
  let anonymousHeld = 0;

  function fits(bytes: number, own: number, isAnonymous: boolean): boolean {
    if (isAnonymous && anonymousHeld + bytes > anonymousShare) return false;
    return held + bytes <= total || (!isAnonymous && held === own);
  }

  return {
    get held() {
      return held;
    },
    open({ isAnonymous }) {
      let own = 0;
      const change = (bytes: number): void => {
        own += bytes;
        held += bytes;
        if (isAnonymous) anonymousHeld += bytes;
      };
      return {
        reserve(bytes) {
          const more = bytes - freeBytes - own;
          if (more <= 0) return true;
          if (!fits(more, own, isAnonymous)) return false;
          change(more);
          return true;
        },
        release: () => change(-own),
      };
    },
  };
}
