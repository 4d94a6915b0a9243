import {
  currentLanguage,
  escapeHtml,
  formatCount,
  formatDate,
  formatDuration,
  formatPercent,
  formatNumber,
  formatWait,
  schemaField,
  scriptNonceAttribute,
} from '#plugin-api';
import type { FormFieldInit, JsonSchema } from '#plugin-api';
import { SafeHtml } from './safe-html.ts';

/** URLs for templates. */
export interface ViewAddresses {
  /** Path of a plugin's asset with its content hash. */
  asset(slug: string, file: string): string;
  /** Path of an admin page, for example of `svc`. */
  admin(slug: string): string;
  /** The texts of a script, whose path is `svc/settings.js` or as `asset` returns it, and the plugin that translates them. */
  scriptTexts(path: string): { readonly slug: string; readonly texts: readonly string[] };
}

/** Handlebars' last argument of a helper. */
interface HelperOptions {
  readonly hash: Readonly<Record<string, unknown>>;
  readonly data: Readonly<Record<string, unknown>>;
}

export type Helper = (...args: unknown[]) => unknown;

/** The helpers of every template. The last argument of each is Handlebars' options object. */
export function createHelpers(addresses: ViewAddresses): Readonly<Record<string, Helper>> {
  return { ...comparisons, ...formatting, ...texts, ...links(addresses), schemaField: makeSchemaField };
}

const comparisons: Record<string, Helper> = {
  eq: (left, right) => left === right,
  ne: (left, right) => left !== right,
  same: (left, right) => String(left ?? '') === String(right ?? ''),
  and: (...args) => args.slice(0, -1).reduce((all, value) => (all ? value : all), true),
  or: (...args) => args.slice(0, -1).reduce((found, value) => (found ? found : value), false),
  not: (value) => !value,
  given: (value) => value !== undefined && value !== null && value !== '',
  includes: (list, value) => Array.isArray(list) && list.includes(value),
};

const formatting: Record<string, Helper> = {
  concat: (...args) =>
    args
      .slice(0, -1)
      .map((value) => String(value ?? ''))
      .join(''),
  json: (value) => JSON.stringify(value) ?? 'null',
  number: (value) => formatNumber(value),
  duration: (value) => formatDuration(value),
  asPercent: (value) => formatPercent(Number(value)),
  wait: (value) => formatWait(Number(value)),
  date: (value, options) => formatDate(value, 'date', timezoneOf(options)),
  dateTime: (value, options) => formatDate(value, 'dateTime', timezoneOf(options)),
  time: (value, options) => formatDate(value, 'time', timezoneOf(options)),
  plural: (count, one, many) => formatCount(count, String(one), String(many)),
};

/** Data passed to a partial where it expects a text: it is not looked up. */
class Data {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  toString(): string {
    return this.#value;
  }
}

const texts: Record<string, Helper> = {
  __: (text, options) =>
    typeof text === 'string'
      ? fill(findText(text, options) ?? currentLanguage()?.translate(text) ?? text, options)
      : text,
  _n: (one, many, options) => {
    const count = Number((options as HelperOptions).hash['count']);
    const found = currentLanguage()?.findPlural(String(one), count, ownerOf(options));
    return fill(found ?? String(count === 1 ? one : many), options);
  },
  data: (value) => (typeof value === 'string' && value !== '' ? new Data(value) : value),
};

function findText(text: string, options: unknown): string | undefined {
  return currentLanguage()?.find(text, ownerOf(options));
}

/** The plugin whose template is rendered. */
function ownerOf(options: unknown): string {
  return String(frameOf(options)['owner']);
}

function fill(text: string, options: unknown): string {
  const { hash } = options as HelperOptions;
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) =>
    Object.hasOwn(hash, name) ? String(hash[name]) : placeholder,
  );
}

/** `gear` of the admin's sprite, or `shop/icons.svg#cart`: slug of a plugin, file in its folder `assets`, id of a symbol. */
const iconPattern = /^(?:([a-z0-9-]+)\/([\w/-]+\.svg)#)?([\w-]+)$/;

function links(addresses: ViewAddresses): Record<string, Helper> {
  return {
    asset: (path) => {
      const [slug = '', ...rest] = String(path).split('/');
      return addresses.asset(slug, rest.join('/'));
    },
    icon: (name) => {
      const [, slug = 'admin', file = 'icons.svg', id] = iconPattern.exec(String(name)) ?? [];
      if (id === undefined) return '';
      const sprite = escapeHtml(addresses.asset(slug, file));
      return new SafeHtml(
        `<svg class="icon" aria-hidden="true" focusable="false"><use href="${sprite}#${id}"></use></svg>`,
      );
    },
    scriptTexts: scriptTexts(addresses),
    // Added to each script of a template when it is read.
    scriptNonce: () => new SafeHtml(scriptNonceAttribute()),
    adminUrl: (...args) => addresses.admin(args.length > 1 ? String(args[0]) : ''),
    nonceField: (options) =>
      new SafeHtml(`<input type="hidden" name="_nonce" value="${escapeHtml(frameOf(options)['nonce'])}">`),
    actionUrl: (action, options) => {
      const page = frameOf(options)['page'] as { readonly slug?: unknown } | undefined;
      const address = addresses.admin(String(page?.slug ?? ''));
      return `${address}?action=${encodeURIComponent(String(action))}`;
    },
  };
}

/**
 * The translations of the scripts of a page, for the function `__` of `admin/texts.js`. Data is no script: a strict content
 * security policy allows it. English needs none.
 */
function scriptTexts({ scriptTexts: textsOf }: ViewAddresses): Helper {
  return (...paths) => {
    const language = currentLanguage();
    if (!language) return '';
    const entries = paths.flatMap((path) => {
      if (typeof path !== 'string') return [];
      const { slug, texts } = textsOf(path);
      return texts.flatMap((text) => {
        const found = language.find(text, slug);
        return found === undefined ? [] : [[text, found] as const];
      });
    });
    const json = JSON.stringify(Object.fromEntries(entries)).replaceAll('<', '\\u003c');
    return new SafeHtml(`<script type="application/json" data-texts>${json}</script>`);
  };
}

function makeSchemaField(name: unknown, schema: unknown, options: unknown): unknown {
  return schemaField(String(name), (schema ?? {}) as JsonSchema, (options as HelperOptions).hash as FormFieldInit);
}

function frameOf(options: unknown): Readonly<Record<string, unknown>> {
  return (options as HelperOptions).data;
}

function timezoneOf(options: unknown): string {
  return String(frameOf(options)['timezone'] ?? 'UTC');
}
