/** What expressions are built from, by file. */
export const builtExpressions: Readonly<Record<string, string>>;
