/** A condition for the site to accept requests; rejects when it is not met. */
export type ReadinessCheck = () => Promise<unknown>;

/** A failed check whose sentence local callers may read. Those of other errors may name hosts or hold secrets. */
export class NotReadyError extends Error {
  override readonly name = 'NotReadyError';
}

/** Something that may be impaired while the site still accepts requests. Resolves with a sentence, or null if it works. */
export type ReadinessWarning = () => Promise<string | null>;
