/** Parsed JSON whose members a test compares, not types. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- members are looked at as deep as a test wants.
export type Fields = Record<string, any>;
