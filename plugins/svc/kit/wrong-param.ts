import { asRecord, isRecord, type RestErrorBody } from '#plugin-api';

/** The parameter that an error is about, or null, and the sentence that says what is wrong with it. */
export function wrongParam({ message, data }: RestErrorBody): {
  readonly param: string | null;
  readonly message: string;
} {
  const { param: named, params } = asRecord(data);
  const listed = Array.isArray(params) ? params.map(String) : isRecord(params) ? Object.keys(params) : [];
  const param = typeof named === 'string' ? named : (listed[0] ?? null);
  const reason = isRecord(params) && param !== null ? params[param] : undefined;
  return { param, message: typeof reason === 'string' ? reason : message };
}
