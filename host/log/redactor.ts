/** Cuts known secrets out of text before it leaves the process (D2, D3). */
export interface Redactor {
  /** Remembers a secret. Texts shorter than 6 characters are not remembered: cutting them out would garble every line. */
  add(secret: string): void;
  /** The text with every known secret, plain, JSON-escaped or percent-encoded, replaced by `[redacted]`. */
  redact(text: string): string;
}

export const redactedMark = '[redacted]';

const shortestSecret = 6;

/**
 * A redactor with no secrets yet. It only grows: a replaced key may still be under way somewhere.
 * Each process keeps its own; secrets reach it when they are decrypted or saved.
 */
export function createRedactor(): Redactor {
  const known = new Set<string>();
  let pattern: RegExp | null = null;

  return {
    add(secret) {
      const before = known.size;
      for (const form of writtenForms(secret)) if (form.length >= shortestSecret) known.add(form);
      if (known.size !== before) pattern = anyOf(known);
    },
    redact: (text) => (pattern === null ? text : text.replace(pattern, redactedMark)),
  };
}

/** How a secret looks in plain text, inside JSON and inside an address. */
function writtenForms(secret: string): string[] {
  const plain = secret.trim();
  const escaped = JSON.stringify(plain).slice(1, -1);
  return [plain, escaped, encodeURIComponent(Buffer.from(plain).toString())];
}

/** Longest first, so that a secret which begins with another one is cut out whole. */
function anyOf(secrets: ReadonlySet<string>): RegExp {
  const longestFirst = [...secrets].sort((left, right) => right.length - left.length);
  return new RegExp(longestFirst.map((secret) => secret.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g');
}
