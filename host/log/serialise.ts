import { redactedMark } from './redactor.ts';

/** Limits of one line: deeper or longer values are cut, so that logging cannot exhaust memory. */
const limits = { depth: 6, members: 100, text: 8_192 } as const;

/** A member whose name contains one of these words is secret: `apiKey`, `svc_api_key`, `x-auth-token`, `Set-Cookie`. */
const secretNameParts = new Set([
  'key',
  'apikey',
  'keys',
  'token',
  'secret',
  'secrets',
  'password',
  'passwd',
  'pass',
  'passphrase',
  'authorization',
  'cookie',
  'cookies',
  'credential',
  'credentials',
  'nonce',
  'signature',
]);

/** Whether a member with this name is secret. Token counts (`input_tokens`) are not. */
export function isSecretName(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return words.some((word) => secretNameParts.has(word));
}

/**
 * A copy of the value that JSON can represent: errors become `{name, message, stack, cause, code}`, secret members
 * `[redacted]`, every string passes `redact`, cycles and deep values are cut. Never throws, even if a getter or `toJSON` does.
 */
export function serialise(value: unknown, redact: (text: string) => string): unknown {
  return copy(value, { redact, parents: [] });
}

interface Walk {
  readonly redact: (text: string) => string;
  readonly parents: readonly object[];
}

function copy(value: unknown, walk: Walk): unknown {
  switch (typeof value) {
    case 'string':
      return text(value, walk);
    case 'bigint':
    case 'symbol':
      return text(String(value), walk);
    case 'function':
      return `[function ${value.name}]`;
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'object':
      return value === null ? null : copyObject(value, walk);
    case 'boolean':
    case 'undefined':
      return value;
  }
}

function text(value: string, { redact }: Walk): string {
  // Redact before cutting: a secret at the cut must not leave a part.
  const clean = redact(value);
  return clean.length > limits.text ? `${clean.slice(0, limits.text)}… [${clean.length - limits.text} more]` : clean;
}

function copyObject(value: object, walk: Walk): unknown {
  if (walk.parents.includes(value)) return '[circular]';
  if (walk.parents.length >= limits.depth) return '[too deep]';
  const inner: Walk = { redact: walk.redact, parents: [...walk.parents, value] };
  try {
    if (value instanceof Error) return copyError(value, inner);
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if (value instanceof URL) return text(value.href, walk);
    if (value instanceof Map) return copyMembers(value.entries(), inner);
    if (Array.isArray(value) || value instanceof Set) return copyItems([...value], inner);
    if ('toJSON' in value && typeof value.toJSON === 'function') return copy((value.toJSON as () => unknown)(), inner);
    return copyMembers(Object.entries(value), inner);
  } catch {
    return '[unreadable]';
  }
}

function copyError(error: Error, walk: Walk): Record<string, unknown> {
  const { name, message, stack, cause, code, reason, errors } = error as Error & Record<string, unknown>;
  return {
    name: copy(name, walk),
    message: copy(message, walk),
    ...(code !== undefined && { code: copy(code, walk) }),
    ...(typeof reason === 'string' && { reason: copy(reason, walk) }),
    ...(stack !== undefined && { stack: copy(stack, walk) }),
    ...(cause !== undefined && { cause: copy(cause, walk) }),
    ...(Array.isArray(errors) && { errors: copy(errors, walk) }),
  };
}

function copyItems(items: readonly unknown[], walk: Walk): unknown[] {
  const copied = items.slice(0, limits.members).map((item) => copy(item, walk) ?? null);
  if (items.length > limits.members) copied.push(`[${items.length - limits.members} more]`);
  return copied;
}

function copyMembers(members: Iterable<[unknown, unknown]>, walk: Walk): Record<string, unknown> {
  const copied: Record<string, unknown> = {};
  let count = 0;
  for (const [key, member] of members) {
    if ((count += 1) > limits.members) {
      copied['[more]'] = true;
      break;
    }
    const name = text(String(key), walk);
    const empty = member === undefined || member === null || member === '' || typeof member === 'boolean';
    Object.defineProperty(copied, name, {
      value: isSecretName(name) && !empty ? redactedMark : copy(member, walk),
      enumerable: true,
    });
  }
  return copied;
}
