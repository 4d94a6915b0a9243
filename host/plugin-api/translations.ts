/** What replaces `{name}` in a text. */
export type TranslationValues = Readonly<Record<string, string | number>>;

/**
 * Texts of a plugin in the language of the user, else of the site (the setting `WPLANG`), under the names of `@wordpress/i18n`.
 * They come from the plugin's files `languages/<locale>.json`, such as `languages/de_DE.json` or `languages/de.json` for every kind
 * of German: `{ "Orders": "Bestellungen", "{count} order": ["{count} Bestellung", "{count} Bestellungen"] }`. An array has one text for
 * each plural form of the language, in the order of `Intl.PluralRules`: zero, one, two, few, many, other, without those that the
 * language does not have.
 *
 * Texts of its templates need nothing: `<p>Set <a href="{{url}}">a secret</a>.</p>` is the key `Set <1>a secret</1>.` For texts that
 * are put together, there are the helpers `{{__ "Orders"}}` and `{{_n "{count} order" "{count} orders" count=3}}`.
 */
export interface TranslationsApi {
  /** Returns the translation, or the text itself if there is none. */
  __(text: string, values?: TranslationValues): string;
  /** Chooses by `count`. The catalog has its texts under the first one. */
  _n(one: string, many: string, values: TranslationValues & { readonly count: number }): string;
  /** Runs `work` in the language of the site: for routes whose responses visitors read. Others have none, so errors stay English. */
  inSiteLanguage<Result>(work: () => Result): Result;
}
