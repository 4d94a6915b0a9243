/** Values by lower-case name; a header that is repeated has a list. */
export type HeaderRecord = Readonly<Record<string, string | readonly string[]>>;

/**
 * Headers that cannot be changed, on a plain record: those of a response, or of a request that is sent again. `Headers`
 * converts and checks each name and value again, and sorts them to be iterated, for each response of an upstream.
 */
export class FixedHeaders implements Headers {
  readonly #record: HeaderRecord;

  constructor(record: HeaderRecord) {
    this.#record = record;
  }

  /** The record of such headers, else null. */
  static recordOf(headers: unknown): HeaderRecord | null {
    return headers instanceof FixedHeaders ? headers.#record : null;
  }

  get(name: string): string | null {
    const value = this.#valueOf(name);
    return value === undefined ? null : joined(value);
  }

  has(name: string): boolean {
    return this.#valueOf(name) !== undefined;
  }

  getSetCookie(): string[] {
    const cookies = this.#valueOf('set-cookie') ?? [];
    return typeof cookies === 'string' ? [cookies] : [...cookies];
  }

  forEach(callback: (value: string, name: string, headers: Headers) => void, thisArg?: unknown): void {
    for (const [name, value] of this) callback.call(thisArg, value, name, this);
  }

  /** In alphabetical order, each cookie alone. */
  entries(): ReturnType<Headers['entries']> {
    const pairs: [string, string][] = [];
    for (const name of Object.keys(this.#record).sort()) {
      const value = this.#record[name] ?? '';
      if (name !== 'set-cookie' || typeof value === 'string') pairs.push([name, joined(value)]);
      else for (const cookie of value) pairs.push([name, cookie]);
    }
    return pairs.values();
  }

  keys(): ReturnType<Headers['keys']> {
    return [...this].map(([name]) => name).values();
  }

  values(): ReturnType<Headers['values']> {
    return [...this].map(([, value]) => value).values();
  }

  [Symbol.iterator](): ReturnType<Headers['entries']> {
    return this.entries();
  }

  append(): never {
    throw new TypeError('These headers cannot be changed. Copy them: new Headers(headers).');
  }

  set(): never {
    return this.append();
  }

  delete(): never {
    return this.append();
  }

  #valueOf(name: string): HeaderRecord[string] | undefined {
    const key = name.toLowerCase();
    return Object.hasOwn(this.#record, key) ? this.#record[key] : undefined;
  }
}

function joined(value: HeaderRecord[string]): string {
  return typeof value === 'string' ? value : value.join(', ');
}

/** Whether the value is a header list of either kind. */
export function isHeaders(value: unknown): value is Headers {
  return value instanceof Headers || value instanceof FixedHeaders;
}
