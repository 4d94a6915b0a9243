import type {
  AbilitiesApi,
  AdminApi,
  AssetsApi,
  CliApi,
  Clock,
  CommentsApi,
  ContentApi,
  CronApi,
  DatabaseApi,
  DocumentsApi,
  HooksApi,
  HttpApi,
  JobsApi,
  Logger,
  MailApi,
  MediaApi,
  MetaApi,
  MetricsApi,
  TracesApi,
  NamespacedHooks,
  OptionsApi,
  PostsApi,
  PublicPage,
  RestApi,
  RevisionsApi,
  SecretsApi,
  ServicesApi,
  SiteApi,
  TermsApi,
  TranslationsApi,
  Undo,
  UsersApi,
  ViewsApi,
} from '#plugin-api';

export interface ScopedHooks {
  forOwner(owner: string): HooksApi;
  removeOwner(owner: string): void;
  /** Wraps the hooks of a plugin in the signatures of @wordpress/hooks. */
  withNamespaces(hooks: HooksApi): NamespacedHooks;
  doActionAsync(name: string, ...args: unknown[]): Promise<void>;
}

/** A service that knows which plugin registered what. `owner`: slug of the plugin. */
export interface Owned<Service> {
  forOwner(owner: string): Service;
}

/** The shared services. Each plugin gets its own view of them. */
export interface HostServices {
  readonly site: SiteApi;
  /** Pages of the public site. `slug`: the plugin whose assets they load. */
  readonly publicPages: { add(slug: string, page: PublicPage): Undo };
  readonly hooks: ScopedHooks;
  readonly options: OptionsApi;
  readonly secrets: SecretsApi;
  readonly rest: Owned<RestApi>;
  readonly cron: Owned<CronApi> & {
    removeOwner(owner: string): Promise<unknown>;
    gather<Result>(owner: string, work: () => Promise<Result>): Promise<Result>;
  };
  readonly jobs: Owned<JobsApi> & { removeOwner(owner: string): Promise<unknown> };
  readonly abilities: Owned<AbilitiesApi>;
  readonly admin: Owned<AdminApi>;
  readonly cli: CliApi;
  readonly database: DatabaseApi;
  readonly users: UsersApi;
  readonly content: ContentApi;
  readonly views: ViewsApi & { addSource(slug: string, directory: string): Undo };
  /** Serves the folder `assets` of a plugin until `undo` is called. The folder may be missing. */
  readonly assets: (slug: string, directory: string) => AssetsApi & { readonly undo?: Undo };
  /** Reads the folder `languages` of a plugin until `undo` is called. The folder may be missing. */
  readonly translations: (
    slug: string,
    directory: string,
  ) => {
    readonly api: TranslationsApi;
    readonly undo: Undo;
    /** Texts that the plugin declares. */
    readonly addTexts: (texts: () => readonly string[]) => Undo;
  };
  readonly log: Logger;
  readonly clock: Clock;
  readonly http: HttpApi;
  readonly mail: MailApi;
  readonly metrics: Owned<MetricsApi>;
  readonly traces: Owned<TracesApi>;
  readonly documents: DocumentsApi;
  /** What plugins provide for each other. */
  readonly services: Owned<ServicesApi>;
  /** Returns sentences about what a plugin registers with a method. Never throws. */
  readonly checkDefinition: (method: string, args: readonly unknown[]) => readonly string[];
}

/** `call`: passes the call on. `undo`: registers something and returns its undo function, or a promise of it. */
export type MethodKind = 'call' | 'undo';

/** A kind for every method of a service, so that the type checker reports missing methods. */
export type MethodKinds<Service> = {
  readonly [Name in keyof Service as Service[Name] extends (...args: never[]) => unknown ? Name : never]-?: MethodKind;
};

/** Callbacks need no undo function, because the hooks know their owner. */
export const hooksMethods: MethodKinds<HooksApi> = {
  addFilter: 'call',
  addAction: 'call',
  removeFilter: 'call',
  removeAction: 'call',
  removeAllFilters: 'call',
  removeAllActions: 'call',
  applyFilters: 'call',
  applyFiltersAsync: 'call',
  doAction: 'call',
  doActionAsync: 'call',
  hasFilter: 'call',
  hasAction: 'call',
  keepValueOnError: 'call',
  owners: 'call',
  didFilter: 'call',
  didAction: 'call',
  currentHook: 'call',
  currentCaller: 'call',
  doingHook: 'call',
};

export const optionsMethods: MethodKinds<OptionsApi> = {
  get: 'call',
  computed: 'call',
  update: 'call',
  add: 'call',
  delete: 'call',
  compareAndSet: 'call',
  list: 'call',
  registerSetting: 'undo',
  getTransient: 'call',
  setTransient: 'call',
  deleteTransient: 'call',
  remember: 'call',
};

export const secretsMethods: MethodKinds<SecretsApi> = { encrypt: 'call', decrypt: 'call', addStore: 'undo' };
export const restMethods: MethodKinds<RestApi> = { registerRoute: 'undo', dispatch: 'call', url: 'call' };
export const cronMethods: MethodKinds<CronApi> = {
  scheduleSingle: 'call',
  schedule: 'call',
  unschedule: 'call',
  next: 'call',
  list: 'call',
  addSchedule: 'undo',
};
export const jobsMethods: MethodKinds<JobsApi> = {
  define: 'undo',
  every: 'undo',
  add: 'call',
  addMany: 'call',
  drain: 'call',
  start: 'call',
  requestStop: 'call',
  get: 'call',
  list: 'call',
  cancel: 'call',
  retry: 'call',
};
export const abilitiesMethods: MethodKinds<AbilitiesApi> = {
  register: 'undo',
  registerCategory: 'undo',
  unregister: 'undo',
  get: 'call',
  list: 'call',
  categories: 'call',
  run: 'call',
};
export const adminMethods: MethodKinds<AdminApi> = {
  addPage: 'undo',
  addMenuGroup: 'undo',
  addBadge: 'undo',
  addNotice: 'undo',
  addSetupChoice: 'undo',
  url: 'call',
};
export const cliMethods: MethodKinds<CliApi> = { addCommand: 'undo', addCommands: 'undo' };
export const usersMethods: MethodKinds<UsersApi> = {
  roles: 'call',
  addRole: 'undo',
  addCapability: 'undo',
  get: 'call',
  find: 'call',
  list: 'call',
  count: 'call',
  ids: 'call',
  names: 'call',
  create: 'call',
  setPassword: 'call',
  update: 'call',
  delete: 'call',
};
export const contentMethods: MethodKinds<ContentApi> = {
  registerPostType: 'undo',
  registerPostStatus: 'undo',
  registerMeta: 'undo',
  registerTaxonomy: 'undo',
  registerRestField: 'undo',
  registerSearchHandler: 'undo',
  addShortcode: 'undo',
  taxonomy: 'call',
  taxonomies: 'call',
  postType: 'call',
  postTypes: 'call',
  postStatuses: 'call',
  doShortcode: 'call',
  stripShortcodes: 'call',
  hasShortcode: 'call',
  shortcodeExists: 'call',
  shortcodeAttributes: 'call',
  can: 'call',
  sanitize: 'call',
  permalink: 'call',
  render: 'call',
};
export const postsMethods: MethodKinds<PostsApi> = {
  create: 'call',
  get: 'call',
  update: 'call',
  delete: 'call',
  untrash: 'call',
  find: 'call',
  count: 'call',
};
export const metaMethods: MethodKinds<MetaApi> = {
  get: 'call',
  all: 'call',
  update: 'call',
  increment: 'call',
  delete: 'call',
};
export const termsMethods: MethodKinds<TermsApi> = {
  create: 'call',
  get: 'call',
  update: 'call',
  delete: 'call',
  find: 'call',
  count: 'call',
  ofPosts: 'call',
  set: 'call',
  link: 'call',
};
export const commentsMethods: MethodKinds<CommentsApi> = {
  get: 'call',
  find: 'call',
  count: 'call',
  isOpen: 'call',
  create: 'call',
  update: 'call',
  delete: 'call',
};
export const revisionsMethods: MethodKinds<RevisionsApi> = { list: 'call', restore: 'call' };
export const mediaMethods: MethodKinds<MediaApi> = {
  save: 'call',
  get: 'call',
  url: 'call',
  read: 'call',
  makePrivate: 'call',
  delete: 'call',
};
export const viewsMethods: MethodKinds<ViewsApi> = { render: 'call', addHelper: 'undo', safe: 'call' };
export const servicesMethods: MethodKinds<ServicesApi> = { provide: 'undo', get: 'call', has: 'call' };
export const metricsMethods: MethodKinds<MetricsApi> = { add: 'undo' };
export const tracesMethods: MethodKinds<TracesApi> = { span: 'call' };
export const httpMethods: MethodKinds<HttpApi> = { fetch: 'call', check: 'call', connector: 'call' };
export const documentsMethods: MethodKinds<DocumentsApi> = { read: 'call' };
export const mailMethods: MethodKinds<MailApi> = { isAvailable: 'call', send: 'call', queue: 'call' };
