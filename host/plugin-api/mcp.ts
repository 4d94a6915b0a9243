import type { User } from './users.ts';

/** A text that MCP clients can read. */
export interface McpResource {
  /** Begins with the `prefix` of its source. */
  readonly uri: string;
  readonly name: string;
  readonly description?: string;
  /** Default `text/plain`. */
  readonly mimeType?: string;
}

/** A value that a person is typing in an MCP client. */
export interface McpCompletion {
  /** The argument, or the part of the template. */
  readonly name: string;
  /** What is typed so far; '' at first. */
  readonly value: string;
  /** The other values that are known. */
  readonly values: Readonly<Record<string, string>>;
  readonly user: User;
  /** Suggestions beyond it are not shown. */
  readonly limit: number;
}

/** Lists and reads resources of one kind. */
export interface McpResourceSource {
  /** Begins the address of each of its resources: `knowledge://`. */
  readonly prefix: string;
  /** Address of one resource with its parts in braces: `knowledge://{base}/{source}`. */
  readonly uriTemplate: string;
  readonly name: string;
  readonly description: string;
  /** Name of the read-only ability that shows the same. A key that does not name it reads the resources as a visitor does. */
  readonly ability?: string;
  /** @returns at most `limit` resources that the user may read. */
  list(page: { readonly user: User; readonly offset: number; readonly limit: number }): Promise<readonly McpResource[]>;
  /** Null: there is none, or the user may not read it. */
  read(uri: string, user: User): Promise<{ readonly text: string; readonly mimeType?: string } | null>;
  /** Suggests values for a part of `uriTemplate` that the user may read. Default: none. */
  complete?(completion: McpCompletion): Promise<readonly string[]>;
}

/** A prompt that people choose in an MCP client. */
export interface McpPrompt {
  /** Unique; letters, digits, `_` and `-`. */
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: readonly {
    readonly name: string;
    readonly description?: string;
    readonly required?: boolean;
    /** Suggests values for the argument. Default: none. */
    readonly complete?: (completion: McpCompletion) => Promise<readonly string[]>;
  }[];
  /** The text that the client sends as the user's message. */
  render(values: Readonly<Record<string, string>>): string | Promise<string>;
}
