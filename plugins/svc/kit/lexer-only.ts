/**
 * For bundles that use only the lexer of marked: drops its default instance, which would keep the HTML renderer (3.3 kB
 * compressed), and what it does in other modes than `gfm`, which is the one that the browser reads. A version of marked that is built
 * differently is bundled as a whole.
 */
export const lexerOnly = {
  file: /[\\/]marked\.esm\.js$/,
  edit(source: string): string {
    const localName = (exported: string): string => new RegExp(`[{,](\\w+) as ${exported}[,}]`).exec(source)?.[1] ?? '';
    const start = source.search(new RegExp(`var \\w+=new ${localName('Marked') || '0'};`));
    if (start < 0) return source;
    const lexer = source
      .slice(0, start)
      .replaceAll(/this\.options\.(?:pedantic|silent)/g, 'false')
      .replaceAll('this.options.gfm', 'true');
    return `${lexer}export{${localName('Lexer')} as Lexer};`;
  },
};
