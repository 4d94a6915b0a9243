/** The part of the client that the tests use; the package brings no types. */
declare module 'wpapi' {
  export interface WpRequest extends PromiseLike<unknown> {
    id(id: number): this;
    page(page: number): this;
    perPage(count: number): this;
    param(name: string, value: unknown): this;
    embed(): this;
    get(): Promise<unknown>;
    headers(): Promise<Readonly<Record<string, string>>>;
    create(data: unknown): Promise<unknown>;
    update(data: unknown): Promise<unknown>;
    delete(parameters?: unknown): Promise<unknown>;
    search(words: string): this;
    me(): this;
    /** Parts of paths of abilities. */
    name(name: string): this;
    run(): this;
    file(content: Uint8Array, name: string): this;
  }

  export interface Paging {
    readonly total: number;
    readonly totalPages: number;
    readonly links: Readonly<Record<string, string>>;
    readonly next?: WpRequest;
    readonly prev?: WpRequest;
  }

  export default class WPAPI {
    static discover(url: string): Promise<WPAPI>;
    constructor(options: { endpoint: string; username?: string; password?: string; auth?: boolean });
    namespace(namespace: string): Readonly<Record<string, () => WpRequest>>;
    registerRoute(namespace: string, route: string): () => WpRequest;
    /** Bound from the routes of wp/v2. */
    posts?(): WpRequest;
    media?(): WpRequest;
    users?(): WpRequest;
    auth(credentials: { username: string; password: string }): this;
    root(path?: string): WpRequest;
  }
}
