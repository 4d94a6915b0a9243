const int8 = 20;

/** Reads 64-bit integers as numbers, not text: counts and milliseconds fit. */
export function createTypeParser(types: {
  getTypeParser: typeof import('pg').types.getTypeParser;
}): typeof import('pg').types.getTypeParser {
  return ((id: number, format: 'text') =>
    id === int8 ? Number : types.getTypeParser(id, format)) as typeof import('pg').types.getTypeParser;
}
