/** Recorded answers that ours differ from on purpose, by id, each with its reason. Rows of `/wp/v2` are compared in tests/options/settings-routes.test.ts, on a whole host. */
export const restExceptions: Readonly<Record<string, string>> = {
  'route.index.qs': 'the namespaces of WordPress’s own parts (wp/v2, oembed, ...) are not built yet',
  'index.fields': 'the same, and gmt_offset keeps its type: a number',
  'cors.null': 'other sites’ scripts get in only from allowed origins; WordPress lets every origin in',
  'ret.nostatus': 'data.status is always there (contract 7); WordPress leaves data null',
  'ret.adddata': 'an error has one data object; WordPress keeps those it had before in additional_data',
  'gp.link?_jsonp=cb': 'JSONP is not offered',
};

/** Recorded values whose check or coercion differs on purpose, by number, each with its reason. */
export const schemaExceptions: Readonly<Record<number, string>> = {};
