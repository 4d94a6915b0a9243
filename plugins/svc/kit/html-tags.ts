const names =
  'a abbr acronym address animate annotation applet area article aside audio b base basefont bdi bdo bgsound big blink blockquote ' +
  'body br button canvas caption center circle cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed ' +
  'fieldset figcaption figure font footer foreignobject form frame frameset g h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe ' +
  'image img input ins isindex kbd keygen label legend li link listing main map mark marquee math menu menuitem meta meter mi mn mo ' +
  'ms mtext nav nobr noembed noframes noscript object ol optgroup option output p param path picture plaintext pre progress q rect ' +
  'rp rt ruby s samp script search section select set slot small source span strike strong style sub summary sup svg table tbody td ' +
  'template text textarea tfoot th thead time title tr track tt u ul use var video wbr xmp';
const tags: ReadonlySet<string> = new Set(names.split(' '));

/**
 * Whether what looks like a tag is one of HTML, SVG or MathML, or a comment or declaration. `<String>` in `Vec<String>` is text.
 *
 * @param tag from its `<`
 */
export function isHtmlTag(tag: string): boolean {
  const name = /^<\/?([a-z][\w:.-]*)/i.exec(tag)?.[1];
  return name === undefined || tags.has(name.toLowerCase());
}
