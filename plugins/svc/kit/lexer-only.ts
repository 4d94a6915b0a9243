/**
 * For bundles that use only the lexer of marked: drops its default instance, which would keep the HTML renderer (3.3 kB
 * compressed). A version of marked that is built differently is bundled as a whole.
 */
export const lexerOnly = {
  file: /[\\/]marked\.esm\.js$/,
  edit(source: string): string {
    const localName = (exported: string): string => new RegExp(`[{,](\\w+) as ${exported}[,}]`).exec(source)?.[1] ?? '';
    const start = source.search(new RegExp(`var \\w+=new ${localName('Marked') || '0'};`));
    return start < 0 ? source : `${source.slice(0, start)}export{${localName('Lexer')} as Lexer};`;
  },
};
