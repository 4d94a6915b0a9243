import { allowScripts, escapeHtml, inTurn } from '#plugin-api';
import type {
  ContentApi,
  HooksApi,
  Logger,
  ShortcodeAttributes,
  ShortcodeCallback,
  ShortcodeContext,
} from '#plugin-api';
import { createScanner, maxShortcodes, type FoundShortcode, type ShortcodeScanner } from './scanner.ts';

/**
 * `name="v"`, `name='v'`, `name=v`, `"v"`, `'v'` or a bare word, each followed by white space. Sticky: a bare word matches
 * wherever the others do not, so nothing is skipped.
 */
const attribute = new RegExp(
  [
    String.raw`\s*(?:(?<name>[\w-]+)\s*=\s*(?:"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<plain>[^\s'"]+))`,
    String.raw`"(?<lone>[^"]*)"|'(?<quoted>[^']*)'|(?<word>\S+))(?=\s|$)`,
  ].join('|'),
  'gy',
);

/**
 * Parses attributes like WordPress: names in lowercase, values without names by index from 0. Clears a value with an
 * unclosed HTML tag, because it could hide the rest of the page.
 */
function readAttributes(text: string): ShortcodeAttributes {
  const attributes: Record<string, string> = {};
  let position = 0;
  for (const { groups = {} } of text.replace(/[\u00a0\u200b]/g, ' ').matchAll(attribute)) {
    const { name, double, single, plain, lone, quoted, word } = groups;
    const value = withWholeTags(double ?? single ?? plain ?? lone ?? quoted ?? word ?? '');
    const key = name === undefined ? String(position++) : name.toLowerCase();
    // Also allows `__proto__` as a name.
    Object.defineProperty(attributes, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return attributes;
}

function withWholeTags(value: string): string {
  return !value.includes('<') || /^[^<]*(?:<[^>]*>[^<]*)*$/.test(value) ? value : '';
}

declare module '#plugin-api' {
  interface FilterMap {
    /** A value other than false replaces the output of the shortcode callback. */
    pre_do_shortcode_tag: (
      ...args: [output: string | false, tag: string, attributes: ShortcodeAttributes, content: string]
    ) => string | false;
    /** The output of a shortcode, after it ran. */
    do_shortcode_tag: (
      ...args: [output: string, tag: string, attributes: ShortcodeAttributes, content: string]
    ) => string;
  }
}

export type Shortcodes = Pick<
  ContentApi,
  'addShortcode' | 'doShortcode' | 'stripShortcodes' | 'hasShortcode' | 'shortcodeExists' | 'shortcodeAttributes'
>;

/** The registry of this process, with the scanner of its current tags. */
export interface ShortcodeRegistry extends Shortcodes {
  readonly scan: ShortcodeScanner;
  /** Names of the shortcodes. */
  tags(): readonly string[];
}

export interface ShortcodesDependencies {
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync'>;
  readonly log: Logger;
}

interface Registration {
  readonly tag: string;
  readonly callback: ShortcodeCallback;
}

/** Shortcodes with the syntax of WordPress and asynchronous callbacks. One registry per process. */
export function createShortcodes({ hooks, log }: ShortcodesDependencies): ShortcodeRegistry {
  const table = createTable();
  /** Of the text that is being rendered. */
  const counts = new WeakMap<ShortcodeContext, number>();
  const { scan, findCallback } = table;

  async function run(
    { tag, attributes: written, content: enclosed }: FoundShortcode,
    context: ShortcodeContext,
  ): Promise<string> {
    const attributes = readAttributes(written);
    const content = enclosed ?? '';
    try {
      const early = await hooks.applyFiltersAsync('pre_do_shortcode_tag', false, tag, attributes, content);
      if (early !== false) return early;
      const output = await findCallback(tag)?.(attributes, content, tag, context);
      const html = await hooks.applyFiltersAsync('do_shortcode_tag', toText(output), tag, attributes, content);
      // What the post says is not the plugin's.
      return /<script/i.test(written + content) ? html : allowScripts(html);
    } catch (error) {
      log.error('Shortcode failed', { event: 'shortcode_failed', tag, error });
      return '';
    }
  }

  const hasShortcode = (text: string, tag: string): boolean =>
    findCallback(tag) !== undefined &&
    scan(text).some((found) => found.tag === tag || (found.content !== null && hasShortcode(found.content, tag)));

  return {
    scan,
    tags: table.tags,
    addShortcode: table.add,
    async doShortcode(text, context = {}) {
      const position = createHtmlPosition();
      const parts: string[] = [];
      let last = 0;
      for (const shortcode of await inTurn(text, () => scan(text))) {
        const count = (counts.get(context) ?? 0) + 1;
        if (count > maxShortcodes) break;
        counts.set(context, count);
        const between = text.slice(last, shortcode.start);
        position.advance(between);
        parts.push(
          between,
          shortcode.isEscaped
            ? unescaped(text, shortcode)
            : shortcode.before + escapeInTag(await run(shortcode, context), position) + shortcode.after,
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
    shortcodeExists: (tag) => findCallback(tag) !== undefined,
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
  const tags = () => [...new Set(registrations.map(({ tag }) => tag))];
  const scan: ShortcodeScanner = (text) => (text.includes('[') ? (scanner ??= createScanner(tags()))(text) : []);
  const add: Shortcodes['addShortcode'] = (tag, callback) => {
    if (tag.trim() === '' || /[&/<>[\]=\s\p{Cc}]/u.test(tag))
      throw new Error(`'${tag}' is not a valid shortcode; do not use white space or & / < > [ ] =.`);
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
  const findCallback = (tag: string): ShortcodeCallback | undefined =>
    registrations.findLast((registration) => registration.tag === tag)?.callback;
  return { scan, tags, add, findCallback };
}

/** Escapes output inside an HTML tag, where it is part of an attribute. */
function escapeInTag(output: string, position: ReturnType<typeof createHtmlPosition>): string {
  return position.isInsideTag() ? escapeHtml(output) : output;
}

function unescaped(text: string, { start, end }: FoundShortcode): string {
  return text.slice(start + 1, end - 1);
}

/** A callback in plain JavaScript may return anything. */
function toText(output: unknown): string {
  return typeof output === 'string' ? output : typeof output === 'number' ? String(output) : '';
}

/**
 * Follows HTML piece by piece and reports whether its end is inside a tag. Output there becomes part of an attribute and
 * must not close it.
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
