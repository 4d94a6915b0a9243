import type {
  ContentApi,
  HooksApi,
  Logger,
  ShortcodeAttributes,
  ShortcodeCallback,
  ShortcodeContext,
} from '#plugin-api';
import { escapeHtml } from '../html/text.ts';
import { createScanner, type FoundShortcode, type ShortcodeScanner } from './scanner.ts';

/** `name="v"`, `name='v'`, `name=v`, `"v"`, `'v'` or a bare word, each up to white space. Whatever else begins with a name is a bare word. */
const attribute =
  /(?:(?<name>[\w-]+)\s*=\s*(?:"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<plain>[^\s'"]+))|"(?<lone>[^"]*)"|'(?<quoted>[^']*)'|(?<word>\S+))(?=\s|$)/g;

/**
 * Attributes as WordPress reads them: names in lower case, values without names counted from 0. A value with a broken HTML
 * tag in it is emptied, because it could swallow what follows on the page.
 */
function readAttributes(text: string): ShortcodeAttributes {
  const attributes: Record<string, string> = {};
  let position = 0;
  for (const { groups = {} } of text.replace(/[\u00a0\u200b]/g, ' ').matchAll(attribute)) {
    const { name, double, single, plain, lone, quoted, word } = groups;
    const value = withWholeTags(double ?? single ?? plain ?? lone ?? quoted ?? word ?? '');
    const key = name === undefined ? String(position++) : name.toLowerCase();
    // `__proto__` is a name like any other.
    Object.defineProperty(attributes, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return attributes;
}

function withWholeTags(value: string): string {
  return !value.includes('<') || /^[^<]*(?:<[^>]*>[^<]*)*$/.test(value) ? value : '';
}

declare module '#plugin-api' {
  interface FilterMap {
    /** Anything but false takes the place of what the shortcode's callback would have answered. */
    pre_do_shortcode_tag: (
      ...args: [output: string | false, tag: string, attributes: ShortcodeAttributes, content: string]
    ) => string | false;
    do_shortcode_tag: (
      ...args: [output: string, tag: string, attributes: ShortcodeAttributes, content: string]
    ) => string;
  }
}

export type Shortcodes = Pick<
  ContentApi,
  'addShortcode' | 'doShortcode' | 'stripShortcodes' | 'hasShortcode' | 'shortcodeExists' | 'shortcodeAttributes'
>;

export interface ShortcodesDependencies {
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync'>;
  readonly log: Logger;
}

interface Registration {
  readonly tag: string;
  readonly callback: ShortcodeCallback;
}

/** Shortcodes in WordPress's grammar; callbacks may take their time. One table per process. */
export function createShortcodes({ hooks, log }: ShortcodesDependencies): Shortcodes {
  const table = createTable();
  const { scan, callbackOf } = table;

  async function run(
    { tag, attributes: written, content: enclosed }: FoundShortcode,
    context: ShortcodeContext,
  ): Promise<string> {
    const attributes = readAttributes(written);
    const content = enclosed ?? '';
    try {
      const early = await hooks.applyFiltersAsync('pre_do_shortcode_tag', false, tag, attributes, content);
      if (early !== false) return early;
      const output = await callbackOf(tag)?.(attributes, content, tag, context);
      return await hooks.applyFiltersAsync('do_shortcode_tag', textOf(output), tag, attributes, content);
    } catch (error) {
      log.error('A shortcode failed; nothing is shown in its place.', { tag, error });
      return '';
    }
  }

  const hasShortcode = (text: string, tag: string): boolean =>
    callbackOf(tag) !== undefined &&
    scan(text).some((found) => found.tag === tag || (found.content !== null && hasShortcode(found.content, tag)));

  return {
    addShortcode: table.add,
    async doShortcode(text, context = {}) {
      const position = createHtmlPosition();
      const parts: string[] = [];
      let last = 0;
      for (const shortcode of scan(text)) {
        const between = text.slice(last, shortcode.start);
        position.advance(between);
        parts.push(
          between,
          shortcode.isEscaped
            ? unescaped(text, shortcode)
            : shortcode.before + placed(await run(shortcode, context), position) + shortcode.after,
        );
        last = shortcode.end;
      }
      return parts.join('') + text.slice(last);
    },
    stripShortcodes(text) {
      const parts: string[] = [];
      let last = 0;
      for (const shortcode of scan(text)) {
        parts.push(
          text.slice(last, shortcode.start),
          shortcode.isEscaped ? unescaped(text, shortcode) : shortcode.before + shortcode.after,
        );
        last = shortcode.end;
      }
      return parts.join('') + text.slice(last);
    },
    hasShortcode,
    shortcodeExists: (tag) => callbackOf(tag) !== undefined,
    shortcodeAttributes<Defaults extends Readonly<Record<string, unknown>>>(
      defaults: Defaults,
      attributes: ShortcodeAttributes,
    ) {
      const merged = Object.entries(defaults).map(
        ([name, value]) => [name, Object.hasOwn(attributes, name) ? attributes[name] : value] as const,
      );
      return Object.fromEntries(merged) as { [Name in keyof Defaults]: Defaults[Name] | string };
    },
  };
}

function createTable() {
  const registrations: Registration[] = [];
  let scanner: ShortcodeScanner | undefined;
  const scan: ShortcodeScanner = (text) =>
    text.includes('[') ? (scanner ??= createScanner([...new Set(registrations.map(({ tag }) => tag))]))(text) : [];
  const add: Shortcodes['addShortcode'] = (tag, callback) => {
    if (tag.trim() === '' || /[&/<>[\]=\s\p{Cc}]/u.test(tag))
      throw new Error(`'${tag}' cannot be a shortcode; leave out white space and & / < > [ ] =.`);
    const registration = { tag, callback };
    registrations.push(registration);
    scanner = undefined;
    return () => {
      const index = registrations.indexOf(registration);
      if (index < 0) return;
      registrations.splice(index, 1);
      scanner = undefined;
    };
  };
  const callbackOf = (tag: string): ShortcodeCallback | undefined =>
    registrations.findLast((registration) => registration.tag === tag)?.callback;
  return { scan, add, callbackOf };
}

/** Inside an HTML tag the output is part of an attribute, and must not be able to end it. */
function placed(output: string, position: ReturnType<typeof createHtmlPosition>): string {
  return position.isInsideTag() ? escapeHtml(output) : output;
}

function unescaped(text: string, { start, end }: FoundShortcode): string {
  return text.slice(start + 1, end - 1);
}

/** A callback in plain JavaScript may answer anything. */
function textOf(output: unknown): string {
  return typeof output === 'string' ? output : typeof output === 'number' ? String(output) : '';
}

/**
 * Follows a text of HTML piece by piece, and tells whether its end stands inside a tag: what is put there becomes part of an
 * attribute and must not be able to end it.
 */
function createHtmlPosition(): { advance(piece: string): void; isInsideTag(): boolean } {
  let isInside = false;
  let quote = '';
  const step = (character: string, next: string): void => {
    if (!isInside) isInside = character === '<' && /[a-z/!?]/i.test(next);
    else if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === '>') isInside = false;
  };
  return {
    advance(piece) {
      for (let index = 0; index < piece.length; index += 1) step(piece.charAt(index), piece.charAt(index + 1));
    },
    isInsideTag: () => isInside,
  };
}
