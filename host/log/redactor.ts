/** Removes known secrets from text before it leaves the process (D2, D3). */
export interface Redactor {
  /** Adds a secret. Texts shorter than 6 characters are ignored: replacing them would garble every line. */
  add(secret: string): void;
  /** The text with every known secret, plain, JSON-escaped or percent-encoded, replaced by `[redacted]`. */
  redact(text: string): string;
}

export const redactedMark = '[redacted]';

const shortestSecret = 6;

/**
 * A redactor without secrets. Secrets are never removed, because a replaced key may still be in use somewhere. Each process
 * has its own; secrets are added when they are decrypted or saved.
 */
export function createRedactor(): Redactor {
  const known = new Set<string>();
  let pattern: RegExp | null = null;

  return {
    add(secret) {
      const before = known.size;
      for (const form of encodedForms(secret)) if (form.length >= shortestSecret) known.add(form);
      if (known.size !== before) pattern = anyOf(known);
    },
    redact: (text) => (pattern === null ? text : text.replace(pattern, redactedMark)),
  };
}

/** The forms of a secret: plain, JSON-escaped and percent-encoded. */
function encodedForms(secret: string): string[] {
  const plain = secret.trim();
  const escaped = JSON.stringify(plain).slice(1, -1);
  return [plain, escaped, encodeURIComponent(Buffer.from(plain).toString())];
}

/** Longest first, so that a secret that starts with another one is replaced whole. */
function anyOf(secrets: ReadonlySet<string>): RegExp {
  const longestFirst = [...secrets].sort((left, right) => right.length - left.length);
  return new RegExp(longestFirst.map((secret) => secret.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g');
}
