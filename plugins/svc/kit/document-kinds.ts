/** How a file is read. `opendocument` is odt, ods and odp; `subtitles` srt and vtt; `csv` also files with tabs. */
export type DocumentKind =
  | 'text'
  | 'html'
  | 'pdf'
  | 'docx'
  | 'xlsx'
  | 'pptx'
  | 'opendocument'
  | 'epub'
  | 'rtf'
  | 'eml'
  | 'csv'
  | 'json'
  | 'subtitles';

const kinds: Readonly<Record<string, DocumentKind>> = {
  txt: 'text',
  md: 'text',
  html: 'html',
  pdf: 'pdf',
  docx: 'docx',
  xlsx: 'xlsx',
  pptx: 'pptx',
  odt: 'opendocument',
  ods: 'opendocument',
  odp: 'opendocument',
  epub: 'epub',
  rtf: 'rtf',
  eml: 'eml',
  csv: 'csv',
  tsv: 'csv',
  json: 'json',
  srt: 'subtitles',
  vtt: 'subtitles',
};
/** Other extensions of the same formats. Macros are never run. */
const otherKinds: Readonly<Record<string, DocumentKind>> = {
  text: 'text',
  markdown: 'text',
  htm: 'html',
  docm: 'docx',
  xlsm: 'xlsx',
  pptm: 'pptx',
  ppsx: 'pptx',
};

/** Extensions of readable files, for `accept` of a field. */
export const documentEndings: readonly string[] = Object.keys(kinds).map((ending) => `.${ending}`);

/** By its extension; undefined for one that is not read. */
export function kindOfName(name: string): DocumentKind | undefined {
  const ending = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  for (const some of [kinds, otherKinds]) if (Object.hasOwn(some, ending)) return some[ending];
  return undefined;
}

const office = 'application/vnd.openxmlformats-officedocument';
const openDocument = 'application/vnd.oasis.opendocument';
/** Extensions by the type of a response. */
const typeEndings: Readonly<Record<string, string>> = {
  '': 'html',
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'text/plain': 'txt',
  'text/markdown': 'md',
  'application/pdf': 'pdf',
  [`${office}.wordprocessingml.document`]: 'docx',
  [`${office}.spreadsheetml.sheet`]: 'xlsx',
  [`${office}.presentationml.presentation`]: 'pptx',
  [`${openDocument}.text`]: 'odt',
  [`${openDocument}.spreadsheet`]: 'ods',
  [`${openDocument}.presentation`]: 'odp',
  'application/epub+zip': 'epub',
  'application/rtf': 'rtf',
  'text/rtf': 'rtf',
  'message/rfc822': 'eml',
  'text/csv': 'csv',
  'text/tab-separated-values': 'tsv',
  'application/json': 'json',
  'application/x-subrip': 'srt',
  'text/vtt': 'vtt',
};
/** Types that say nothing about the format. */
const anyBytes = new Set(['application/octet-stream', 'binary/octet-stream', 'application/zip']);

/** The extension of what a URL returned; undefined if it is not read. @param type without parameters, in lower case */
export function endingOfResponse(type: string, url: string): string | undefined {
  if (Object.hasOwn(typeEndings, type)) return typeEndings[type];
  const ending = /\.([a-z]+)$/i.exec(new URL(url).pathname)?.[1];
  return anyBytes.has(type) && ending !== undefined && kindOfName(`a.${ending}`) !== undefined ? ending : undefined;
}
