/** Recorded answers that ours differ from on purpose, by id, each with its reason. */
export const exceptions: Readonly<Record<string, string>> = {
  'tax.list': 'menus and block patterns are not parts of this host, so their taxonomies are missing',
  'tax.one.private': 'the same: there are no menus',
  'search.page0': 'a page has an upper bound here, which the message names as well',
  'get.full': 'posts have no ping_status, sticky, template, format and footnotes here, and guid is the address by id',
  'plugins.requires': 'there is no PHP to be too old: what a plugin lacks here is another plugin',
  'plugins.network': 'the header Allow is sent with an invalid argument too',
  'plugins.status.invalid': 'the same',
  'plugins.options': 'the same: WordPress looks for the plugin without its extension, finds none and allows nothing',
  'abilities.ns.index': 'the path of a category has no group inside its group, which the client wpapi cannot read',
  'list.admin': 'the abilities of the host itself name the host and Node.js where WordPress names itself and PHP',
  'list.subscriber': 'the same',
  'list.page0': 'as in the search, a page has an upper bound here, which the message names as well',
  'success.http.local': 'there is no local environment: a password goes over plain http to this computer only',
  'reject.and.approve': 'allowing is a form and not allowing a link, so that both cannot be sent together',
  neither: 'the same: there is no form without a decision, and a changed one is refused',
  'ns.index.admin': 'an index has no schemas: they are in the answer to OPTIONS and in the OpenAPI document',
};

/** Recorded answers that are faults of WordPress: ours must differ. */
export const faults: Readonly<Record<string, string>> = {
  'cat.create.emptyname': 'a missing name is the caller’s error: 400, not 500',
  'cat.update.slug.taken': 'a taken slug is the caller’s error: 400, not 500',
  'cat.update.self': 'a term cannot be its own parent: 400, instead of silently becoming a root',
  'cat.update.cycle': 'a term cannot be below itself: 400, instead of hanging the tree around',
  'run.plain.fields': 'fields of an output that has none: the output, not a crash',
  'success.userinfo': 'a user name in an address hides who receives the password: refused',
  'approve.badappid': 'what the page refuses is refused in a changed form too',
  'approve.tampered.javascript': 'the same: an unsafe address never receives a password',
  'approve.tampered.http': 'the same: over plain http neither',
  'page.custom.scheme': 'a scheme without a dot is any program’s, also one that others installed: refused',
  'approve.custom.scheme': 'the same: what the page refuses is refused in the form too',
  'list.sub': 'the same: the password that this form would have made is not there',
  'after.error': 'a field that refuses leaves nothing behind: no post is found',
  'update.error.after': 'the same: the title stays',
};
