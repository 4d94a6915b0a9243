import { isIPv4, isIPv6 } from 'node:net';
import { sanitizeTextareaField, sanitizeTextField, sanitizeUrl } from './text-fields.ts';

/** A value of the keyword `format`: how it validates and sanitizes text. */
export interface Format {
  readonly accepts: (text: string) => boolean;
  readonly sanitize: (text: string) => string;
  /** Code and message for an invalid value; `param` is its name. */
  readonly describeError: (param: string) => readonly [code: string, message: string];
}

const hexColor = /^#(?:[A-Fa-f0-9]{3}){1,2}$/;
const dateTime = /^\d{4}-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|[+-]\d{2}(?::\d{2})?)?$/;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const emailLocal = /^[a-zA-Z0-9!#$%&'*+/=?^_`{|}~.-]+$/;

const acceptsAll = (): boolean => true;
const never = (): readonly [string, string] => ['rest_invalid_param', 'Invalid parameter.'];

/** Known formats; any other is not checked. */
export const formats: Readonly<Record<string, Format>> = {
  'hex-color': {
    accepts: (text) => hexColor.test(text),
    sanitize: (text) => text,
    describeError: () => ['rest_invalid_hex_color', 'Invalid hex color.'],
  },
  'date-time': {
    accepts: isDateTime,
    sanitize: sanitizeTextField,
    describeError: () => ['rest_invalid_date', 'Invalid date.'],
  },
  date: { accepts: isDate, sanitize: sanitizeTextField, describeError: () => ['rest_invalid_date', 'Invalid date.'] },
  email: {
    accepts: isEmail,
    sanitize: sanitizeTextField,
    describeError: () => ['rest_invalid_email', 'Invalid email address.'],
  },
  ip: {
    accepts: isAddress,
    sanitize: sanitizeTextField,
    describeError: (param) => ['rest_invalid_ip', `${param} is not a valid IP address.`],
  },
  uuid: {
    accepts: (text) => uuid.test(text),
    sanitize: sanitizeTextField,
    describeError: (param) => ['rest_invalid_uuid', `${param} is not a valid UUID.`],
  },
  uri: { accepts: acceptsAll, sanitize: sanitizeUrl, describeError: never },
  'text-field': { accepts: acceptsAll, sanitize: sanitizeTextField, describeError: never },
  'textarea-field': { accepts: acceptsAll, sanitize: sanitizeTextareaField, describeError: never },
};

/** Finds a format by name. */
export function findFormat(name: string | undefined): Format | undefined {
  return name !== undefined && Object.hasOwn(formats, name) ? formats[name] : undefined;
}

function isDateTime(text: string): boolean {
  const [, month, day, hour, minute, second] = (dateTime.exec(text) ?? []).map(Number);
  if (month === undefined || day === undefined || hour === undefined || minute === undefined || second === undefined)
    return false;
  return month >= 1 && month <= 12 && day <= 31 && hour <= 24 && minute <= 59 && second <= 60;
}

function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && isDateTime(`${text}T00:00:00`);
}

function isAddress(text: string): boolean {
  return isIPv4(text) || (isIPv6(text) && !text.includes('%'));
}

/** At least six characters, one `@`, and a domain of two or more labels. */
function isEmail(text: string): boolean {
  const at = text.indexOf('@');
  if (text.length < 6 || at < 1 || !emailLocal.test(text.slice(0, at))) return false;
  const labels = text.slice(at + 1).split('.');
  return labels.length >= 2 && labels.every((label) => /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i.test(label));
}
