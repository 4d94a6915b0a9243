import type { Language } from '#plugin-api';

/** A text, or one for each plural form. */
export type Catalog = Readonly<Record<string, string | readonly string[]>>;

export interface TextFinderInit {
  /** The catalogs by plugin; `host` is that of the host. Read on first use. */
  readonly read: () => ReadonlyMap<string, Catalog>;
  /** BCP 47, for dates and numbers. */
  readonly tag: string;
  /** Index of the plural form of a count. */
  readonly formOf: (count: number) => number;
  /**
   * The plugin that declared a text, such as the title of a setting: whole texts of all catalogs, and patterns of that plugin, are
   * its translation. Patterns of others would translate words inside of it. Default: none.
   */
  readonly ownerOf?: (text: string) => string | undefined;
}

/** An English text with values, such as `Deleted {name}.`, as it looks when the values are filled in. */
interface Pattern {
  readonly key: string;
  /** The longest part without values, which a text must contain. */
  readonly piece: string;
  readonly expression: RegExp;
  readonly names: readonly string[];
  /** Has so few letters, as in `{1} of {2}`, that sentences would match. */
  readonly isShort: boolean;
}

const maxRemembered = 5_000;
const maxLength = 2_000;
/** Letters of a pattern below which only values of a few words match. */
const shortPattern = 8;
const maxWords = 3;
/** Sentences that one text may have. */
const maxSentences = 6;
/** Between two sentences, but not in a date such as `25. Okt. 2026`. */
const sentenceEnd = /(?<=[^\d][.?!:]) (?=[\p{Lu}'"“])/u;
/** Between two sentences, or a day and its figure. */
const partEnd = new RegExp(`${sentenceEnd.source}|(?<=:) (?=\\d)`, 'u');

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const wholeNumber = String.raw`\d{1,3}(?:,\d{3})*`;
const valueForms: readonly (readonly [RegExp, (match: readonly string[], tag: string) => string | undefined])[] = [
  [/^(\d{1,2}) ([A-Z][a-z]{2})[a-z]* (\d{4})(?:, (\d\d:\d\d))?$/, toDate],
  [/^([A-Z][a-z]+day),? (\d{1,2}) ([A-Z][a-z]{2})[a-z]*$/, toDay],
  [new RegExp(`^in (${wholeNumber}) (second|minute|hour|day)s?$`), toWait],
  // No decimals without a unit, which may be a version.
  [new RegExp(`^(${wholeNumber}(?:\\.\\d{1,2})?)( (?:KB|MB|GB|s))$`), toNumber],
  [new RegExp(`^(${wholeNumber})$`), toNumber],
];

/** Finds texts in the catalogs: the plugin's own first, then that of the host, then those of the other plugins. */
export function createTextFinder(init: TextFinderInit): Pick<Language, 'find' | 'findPlural' | 'translate'> {
  let opened: { readonly all: ReadonlyMap<string, Catalog>; readonly merged: Catalog } | undefined;
  let patterns: readonly Pattern[] | undefined;
  const remembered = new Map<string, string>();

  const open = () => {
    if (opened) return opened;
    const all = init.read();
    const merged = Object.assign(Object.create(null), ...[...all.values()].reverse(), all.get('host')) as Catalog;
    return (opened = { all, merged });
  };
  const entry = (text: string, slug: string | undefined): string | readonly string[] | undefined => {
    const { all, merged } = open();
    const own = slug === undefined ? undefined : all.get(slug);
    return own && Object.hasOwn(own, text) ? own[text] : merged[text];
  };
  const find = (text: string, slug?: string): string | undefined => {
    const found = entry(text, slug);
    return typeof found === 'string' && found !== '' ? found : undefined;
  };
  const findPlural = (one: string, count: number, slug?: string): string | undefined => {
    const found = entry(one, slug);
    return Array.isArray(found) ? (found as readonly string[])[init.formOf(count)] : undefined;
  };
  /** @param owner the plugin whose text it is: only its patterns apply. */
  const translateOrNull = (text: string, owner?: string): string | undefined => {
    const exact = find(text, owner);
    if (exact !== undefined) return exact;
    patterns ??= Object.keys(open().merged)
      .flatMap((key) => toPattern(key) ?? [])
      .sort((left, right) => right.piece.length - left.piece.length);
    const { all, merged } = open();
    const own = owner === undefined ? merged : (all.get(owner) ?? {});
    for (const { key, piece, expression, names, isShort } of patterns) {
      if (own !== merged && !Object.hasOwn(own, key)) continue;
      const match = text.includes(piece) ? expression.exec(text) : null;
      // A value that begins another sentence is more likely a paragraph.
      if (match?.slice(1).some((value) => sentenceEnd.test(value) || (isShort && isLong(value))) === true) continue;
      const pattern = match && patternText(own[key], match[1]);
      if (pattern) return fillMatch(pattern, match, names);
    }
    return undefined;
  };
  /** Counts within a text, such as `3 days`, dates, sentences, and words such as `category`. Other values and those in quotes are data. */
  const fillMatch = (text: string, match: RegExpExecArray, names: readonly string[]): string =>
    text.replace(/\{(\w+)\}/g, (placeholder, name: string, at: number) => {
      const value = match[names.indexOf(name) + 1];
      if (value === undefined) return placeholder;
      const isData = isQuoted(text, at);
      const own = isData ? undefined : translateValue(value, init.tag);
      if (own !== undefined) return own;
      if (/^\d/.test(value) || (/[.!?]$/.test(value) && value.includes(' '))) return translateOrNull(value) ?? value;
      return /^[a-z]/.test(value) && !isData ? (find(value) ?? value) : value;
    });
  const patternText = (found: string | readonly string[] | undefined, count: string | undefined): string | undefined =>
    typeof found === 'string' ? found : found?.[init.formOf(Number(count?.replace(/\D/g, '')))];
  /** Code may have joined sentences to a paragraph. */
  const translateSentences = (text: string, owner?: string): string => {
    const sentences = text.split(partEnd);
    const translated: string[] = [];
    for (let from = 0; from < sentences.length;) {
      let to = Math.min(sentences.length, from + maxSentences);
      let known: string | undefined;
      for (; known === undefined && to > from; to -= 1)
        known = translateOrNull(sentences.slice(from, to).join(' '), owner);
      translated.push(known ?? sentences[from] ?? '');
      from = known === undefined ? from + 1 : to + 1;
    }
    return translated.join(' ');
  };
  /** A line of a report, such as `data folder: It is not writable.` */
  const translateLabeled = (text: string): string | undefined => {
    const [, name = '', rest = ''] = /^([a-z][a-z ]*): (.+)$/s.exec(text) ?? [];
    const label = name === '' ? undefined : find(name);
    return label && `${label}: ${translateOrNull(rest) ?? translateSentences(rest)}`;
  };
  return {
    find,
    findPlural,
    translate(text) {
      if (text.length > maxLength || !/\p{L}{2}/u.test(text)) return text;
      const owner = init.ownerOf?.(text);
      if (owner !== undefined) return translateOrNull(text, owner) ?? translateSentences(text, owner);
      let known = remembered.get(text);
      if (known === undefined) {
        known = translateOrNull(text) ?? translateLabeled(text) ?? translateSentences(text);
        if (remembered.size >= maxRemembered) remembered.clear();
        remembered.set(text, known);
      }
      return known;
    },
  };
}

/** Undefined for a text without values, and for one that has too few letters to be known from data. */
function toPattern(key: string): Pattern | undefined {
  if (!key.includes('{')) return undefined;
  const pieces = key.split(/\{\w+\}/);
  const piece = pieces.reduce((longest, one) => (one.length > longest.length ? one : longest), '');
  if (pieces.length < 2 || !/\p{L}{2}/u.test(piece)) return undefined;
  const isCount = /^\{count\} [^{]+$/.test(key);
  return {
    key,
    piece: isCount ? piece.trim().slice(0, 3) : piece,
    isShort: pieces.join('').replace(/\P{L}/gu, '').length < shortPattern,
    names: [...key.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? ''),
    expression: isCount
      ? new RegExp(`^([\\d.,]+)${escapePattern(piece)}(?:s|es)?$`)
      : new RegExp(`^${pieces.map(escapePattern).join('(.+?)')}$`, 's'),
  };
}

/** Whether a value is more likely a part of a sentence. */
function isLong(value: string): boolean {
  return value.split(' ').filter((word) => !/\d/.test(word)).length > maxWords;
}

function isQuoted(text: string, at: number): boolean {
  return /['‘’"“”„«»]/.test(text.charAt(at - 1));
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/**
 * A date, wait or number that was formatted in English, as in the errors that are stored, in another language. Undefined for
 * other values.
 *
 * @param tag BCP 47.
 */
function translateValue(value: string, tag: string): string | undefined {
  for (const [form, translate] of valueForms) {
    const match = form.exec(value);
    if (match) return translate(match, tag);
  }
  return undefined;
}

function toDate([, day, month = '', year, time]: readonly string[], tag: string): string | undefined {
  const date = Date.parse(`${String(day)} ${month} ${String(year)} ${time ?? '00:00'} UTC`);
  if (!months.includes(month) || Number.isNaN(date)) return undefined;
  const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  const style = { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC', ...(time && clock) } as const;
  return new Intl.DateTimeFormat(tag, style).format(date);
}

/** The text has no year, so any will do in which the day has that name. */
function toDay([, weekday, day, month = '']: readonly string[], tag: string): string | undefined {
  const nameOf = (locale: string, date: number): string =>
    new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' }).format(date);
  for (let year = 2000; year < 2028; year += 1) {
    const date = Date.UTC(year, months.indexOf(month), Number(day));
    if (new Date(date).getUTCDate() === Number(day) && nameOf('en', date) === weekday)
      return new Intl.DateTimeFormat(tag, { weekday: 'long', day: 'numeric', month: 'long', timeZone: 'UTC' }).format(
        date,
      );
  }
  return undefined;
}

function toWait([, count, unit]: readonly string[], tag: string): string {
  return new Intl.RelativeTimeFormat(tag).format(toValue(count), unit as Intl.RelativeTimeFormatUnit);
}

function toNumber([, value, unit = '']: readonly string[], tag: string): string {
  return new Intl.NumberFormat(tag, { maximumFractionDigits: 2 }).format(toValue(value)) + unit;
}

function toValue(text = ''): number {
  return Number(text.replaceAll(',', ''));
}
