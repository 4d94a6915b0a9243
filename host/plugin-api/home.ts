import type { User } from './users.ts';

/** A line under "Needs attention": on the home page of the admin and on its page of alerts. */
export interface HomeAlert {
  readonly kind: 'error' | 'warning';
  readonly text: string;
  /** Slug of an admin page with an optional query, or an absolute URL. */
  readonly href?: string;
  /** Text of the link: what to do, such as `Retry`. Default: `Show`. */
  readonly label?: string;
  /** What it concerns, such as the name of a plugin. */
  readonly source?: string;
  /** Milliseconds since the epoch. */
  readonly at?: number;
}

/** A figure of the period. */
export interface HomeTile {
  readonly label: string;
  /** Formatted. */
  readonly value: string;
  /** Slug of an admin page with an optional query, or an absolute URL. */
  readonly href?: string;
  readonly note?: string;
  /** The same figure of the previous period as numbers, for the change in percent. */
  readonly change?: { readonly now: number; readonly before: number };
  /** Values from the first to the last day of the period, for a small line chart. */
  readonly points?: readonly number[];
}

export interface HomeListItem {
  readonly title: string;
  /** Slug of an admin page with an optional query, or an absolute URL. */
  readonly href?: string;
  readonly note?: string;
  /** Milliseconds since the epoch, or ISO text. */
  readonly at?: number | string;
}

export interface HomeList {
  readonly title: string;
  readonly items: readonly HomeListItem[];
  /** The page that lists all, as its slug with an optional query, or an absolute URL. */
  readonly href?: string;
  /** Shown instead of items. */
  readonly empty: string;
}

/** A service that the site depends on. */
export interface HomeHealth {
  readonly label: string;
  readonly state: 'ok' | 'warning' | 'error' | 'unknown';
  /** Such as the response time. */
  readonly note: string;
  /** Slug of an admin page with an optional query, or an absolute URL. */
  readonly href?: string;
}

/** What the home page of the admin shows besides the next steps. */
export interface AdminHome {
  /** Alerts of the home page alone. The filter `admin_alerts` adds those that the bell of every page counts too. */
  readonly alerts: readonly HomeAlert[];
  readonly tiles: readonly HomeTile[];
  /**
   * The data of the partial `admin/chart`, with `href`, as those of tiles, of the page about it. The first plugin that adds a
   * chart wins.
   */
  readonly chart: (Readonly<Record<string, unknown>> & { readonly title: string; readonly href?: string }) | null;
  readonly lists: readonly HomeList[];
  readonly health: readonly HomeHealth[];
}

/** Whose home page it is, and for which period. Add only what this user may see. */
export interface HomeContext {
  readonly user: User;
  /** 1, 7 or 30, including today. */
  readonly days: number;
}

/** An item of "Next steps" on the home page. */
export interface NextStep {
  readonly text: string;
  /** Slug of an admin page with an optional query, or an absolute URL. */
  readonly href?: string;
  readonly done?: boolean;
}

/** A failure under "Needs attention". */
export interface RecentFailure {
  readonly source: string;
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly at?: number;
  /** Slug of an admin page with an optional query, or an absolute URL. */
  readonly href?: string;
}

/** A page, object or action that the search of the admin finds. */
export interface AdminSearchResult {
  readonly title: string;
  /** What it is, such as `Chatbot`. */
  readonly note: string;
  /** Slug of an admin page with an optional query, or an absolute URL. */
  readonly href: string;
}

declare module './hooks.ts' {
  interface FilterMap {
    /**
     * What needs attention, the most urgent first. The home page and the page of alerts list it, and the bell of every page
     * counts it: add only what this user may see, and query little. When a filter throws, none of the added alerts is shown.
     */
    admin_alerts: (alerts: readonly HomeAlert[], user: User) => readonly HomeAlert[];
    /** The parts of the home page of the admin. A filter that throws is left out. */
    admin_home: (home: AdminHome, context: HomeContext) => AdminHome;
    /** What the search of the admin finds besides pages of the menu. Return only what the user may see, the best first. */
    admin_search: (
      results: readonly AdminSearchResult[],
      search: { readonly query: string; readonly user: User },
    ) => readonly AdminSearchResult[];
    /** The items of "Next steps" on the home page. */
    admin_next_steps: (steps: readonly NextStep[], user: User) => readonly NextStep[];
    /** Failures under "Needs attention", newest first. */
    admin_recent_failures: (failures: readonly RecentFailure[], user: User) => readonly RecentFailure[];
  }
}
