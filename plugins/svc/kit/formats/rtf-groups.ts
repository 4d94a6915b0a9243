/** Encodings of fonts by the number of their character set. */
const charsets: Readonly<Record<number, string>> = {
  77: 'macintosh',
  128: 'shift_jis',
  129: 'euc-kr',
  134: 'gbk',
  136: 'big5',
  161: 'windows-1253',
  162: 'windows-1254',
  163: 'windows-1258',
  177: 'windows-1255',
  178: 'windows-1256',
  186: 'windows-1257',
  204: 'windows-1251',
  222: 'windows-874',
  238: 'windows-1250',
};
const codePages: Readonly<Record<number, string>> = {
  874: 'windows-874',
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  950: 'big5',
  10_000: 'macintosh',
  65_001: 'utf-8',
};

/** The encoding of a character set; undefined: that of the file. */
export const encodingOfCharset = (charset: number): string | undefined => charsets[charset];

export const encodingOfCodePage = (page: number): string =>
  codePages[page] ?? (page >= 1250 && page <= 1258 ? `windows-${String(page)}` : 'windows-1252');

/** Groups whose content is no text of the document. */
export const unreadGroups = new Set(
  (
    'colortbl stylesheet info pict objdata nonshppict themedata colorschememapping datastore latentstyles listtable ' +
    'listoverridetable rsidtbl generator xmlnstbl fldinst sn sv template filetbl revtbl annotation atnid atnauthor'
  ).split(' '),
);

/** Of groups that old programs may skip: those with text of the document. */
export const readGroups = new Set(['shpinst', 'shptxt', 'fldrslt']);

/** Control words that are characters. */
export const characters: Readonly<Record<string, string>> = {
  tab: ' ',
  line: '\n',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  endash: '–',
  emdash: '—',
  bullet: '•',
  emspace: ' ',
  enspace: ' ',
  nestcell: ' ',
};
