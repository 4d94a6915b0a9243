export interface PretendShop {
  /** Another one than the site's, for example `http://127.0.0.1:40213`. */
  readonly origin: string;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** A made-up shop on another origin of this machine, whose page `/?bot=<id>` shows a bot by its script tag; asked when "Check my site" is opened. Null: there is none. */
    svc_chatbot_pretend_shop: (shop: PretendShop | null) => PretendShop | null;
  }
}
