import { isRecord, RestError } from '#plugin-api';
import { errors } from './errors.ts';

/** @param name path of the value, for example `messages[0].content` */
export function invalid(name: string, message: string): RestError {
  return new RestError({
    code: 'rest_invalid_param',
    status: 400,
    message: `Invalid parameter(s): ${name}`,
    data: { params: { [name]: `${name} ${message}` } },
  });
}

/** @throws RestError 400 unless the value is an object */
export function requireObject(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value;
  throw invalid(name, 'must be an object.');
}

/** @throws RestError 400 unless the value is a text or missing; null counts as missing */
export function optionalText(value: unknown, name: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw invalid(name, 'must be a string.');
}

/** @throws RestError 400 unless the value is true, false or missing; null counts as missing */
export function optionalFlag(value: unknown, name: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value;
  throw invalid(name, 'must be true or false.');
}

/** @throws RestError 400 `rest_svc_parameter_unknown` for a member that is not listed, unless it is null */
export function onlyMembers(object: Readonly<Record<string, unknown>>, name: string, known: readonly string[]): void {
  const other = Object.keys(object).find((key) => !known.includes(key) && object[key] !== null);
  if (other === undefined) return;
  const param = `${name}.${other}`;
  throw errors.parameter_unknown({ values: { param }, data: { param } });
}
