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
 *
 * Secrets are compared, never compiled into a pattern: a pattern has a greatest size, and secrets do not. The time of
 * `redact` grows with the text, not with the number or length of the secrets.
 */
export function createRedactor(): Redactor {
  const known = new Set<string>();
  /** Secrets by their first characters, longest first, so that a secret that starts with another one is replaced whole. */
  const byStart = new Map<string, string[]>();
  /** Whether a secret may begin with three such characters: most positions of a text are passed by this alone. */
  const begins = new Uint8Array(65_536);

  return {
    add(secret) {
      for (const form of encodedForms(secret)) {
        if (form.length < shortestSecret || known.has(form)) continue;
        known.add(form);
        const start = form.slice(0, shortestSecret);
        const secrets = byStart.get(start) ?? [];
        const index = secrets.findIndex((other) => other.length <= form.length);
        secrets.splice(index < 0 ? secrets.length : index, 0, form);
        byStart.set(start, secrets);
        begins[mark(form, 0)] = 1;
      }
    },
    redact(text) {
      if (byStart.size === 0) return text;
      let clean = '';
      let copied = 0;
      for (let index = 0; index <= text.length - shortestSecret; index += 1) {
        if (begins[mark(text, index)] === 0) continue;
        const found = byStart
          .get(text.slice(index, index + shortestSecret))
          ?.find((secret) => text.startsWith(secret, index));
        if (found === undefined) continue;
        clean += text.slice(copied, index) + redactedMark;
        copied = index + found.length;
        index = copied - 1;
      }
      return copied === 0 ? text : clean + text.slice(copied);
    },
  };
}

/** A number below 65,536 for three characters of the text. */
function mark(text: string, index: number): number {
  return (text.charCodeAt(index) * 961 + text.charCodeAt(index + 1) * 31 + text.charCodeAt(index + 2)) & 0xffff;
}

/** The forms of a secret: plain, JSON-escaped and percent-encoded. */
function encodedForms(secret: string): string[] {
  const plain = secret.trim();
  const escaped = JSON.stringify(plain).slice(1, -1);
  return [plain, escaped, encodeURIComponent(Buffer.from(plain).toString())];
}
