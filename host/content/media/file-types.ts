/** Extensions that may be uploaded, with the type they are served as. A filter `upload_mimes` may add and remove. */
export const uploadTypes: Readonly<Record<string, string>> = {
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  ico: 'image/x-icon',
  mp3: 'audio/mpeg',
  m4a: 'audio/x-m4a',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  wav: 'audio/wav',
  flac: 'audio/flac',
  mp4: 'video/mp4',
  m4v: 'video/x-m4v',
  webm: 'video/webm',
  mov: 'video/quicktime',
  ogv: 'video/ogg',
  pdf: 'application/pdf',
  zip: 'application/zip',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  odt: 'application/vnd.oasis.opendocument.text',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
  odp: 'application/vnd.oasis.opendocument.presentation',
  epub: 'application/epub+zip',
  rtf: 'application/rtf',
  txt: 'text/plain',
  csv: 'text/csv',
  md: 'text/markdown',
  vtt: 'text/vtt',
  json: 'application/json',
};

/** Types without a signature: any readable text may be one. */
const plainText = new Set(['text/plain', 'text/csv', 'text/markdown', 'text/vtt', 'application/json']);

/** Types that browsers run code of; they are never shown in a page of the site, whatever a filter allows. */
const executed =
  /^(?:text\/html|application\/xhtml\+xml|image\/svg\+xml|(?:text|application)\/xml|.*\+xml|(?:text|application)\/(?:x-)?(?:java|ecma)script|application\/x-shockwave-flash|application\/(?:x-httpd-)?php)$/i;

export function isExecuted(mimeType: string): boolean {
  return executed.test(mimeType) && !/^application\/(?:vnd\.|epub)/.test(mimeType);
}

/** What a browser may show in place; all else is downloaded. */
export function isShownInPlace(mimeType: string): boolean {
  return !isExecuted(mimeType) && /^(?:image|audio|video)\/|^application\/pdf$|^text\/(?:plain|vtt)$/.test(mimeType);
}

/** Names the same thing in different words. */
const synonyms: Readonly<Record<string, string>> = {
  'audio/x-m4a': 'audio/mp4',
  'video/x-m4v': 'video/mp4',
  'audio/x-wav': 'audio/wav',
  'audio/vnd.wave': 'audio/wav',
  'audio/x-flac': 'audio/flac',
  'audio/opus': 'audio/ogg',
  'audio/ogg; codecs=opus': 'audio/ogg',
  'video/ogg': 'application/ogg',
  'audio/ogg': 'application/ogg',
  'image/vnd.microsoft.icon': 'image/x-icon',
  'video/matroska': 'video/webm',
  'text/rtf': 'application/rtf',
};

function canonical(mimeType: string): string {
  const first = synonyms[mimeType] ?? mimeType;
  return synonyms[first] ?? first;
}

export interface CheckedFile {
  readonly extension: string;
  readonly mimeType: string;
}

/**
 * What a file is by its content and its name together. An image under another image's extension gets its own; anything
 * else whose content and name do not agree is refused.
 *
 * @param allowed extensions without dot, with their types.
 * @returns the type, or a sentence that says why it is refused.
 */
export async function checkFile({
  bytes,
  name,
  allowed,
}: {
  bytes: Uint8Array;
  name: string;
  allowed: Readonly<Record<string, string>>;
}): Promise<CheckedFile | string> {
  const extension = /\.([a-z0-9]{1,10})$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  const wanted = Object.hasOwn(allowed, extension) ? allowed[extension] : undefined;
  if (wanted === undefined)
    return extension === '' ? 'The name has no extension.' : `Files with the extension .${extension} are not taken.`;
  if (isExecuted(wanted)) return 'Browsers would run it.';
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(bytes);
  if (found === undefined)
    return plainText.has(wanted) && isReadableText(bytes)
      ? { extension, mimeType: wanted }
      : `The content is not that of a .${extension} file.`;
  if (canonical(found.mime) === canonical(wanted)) return { extension, mimeType: wanted };
  const own = Object.keys(allowed).find((candidate) => canonical(allowed[candidate] ?? '') === canonical(found.mime));
  if (own !== undefined && wanted.startsWith('image/') && found.mime.startsWith('image/') && !isExecuted(found.mime))
    return { extension: own, mimeType: allowed[own] ?? found.mime };
  return `The name says .${extension}, but the content is ${found.mime}.`;
}

function isReadableText(bytes: Uint8Array): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return ![...text.slice(0, 65_536)].some(
      (character) => character < '\t' || (character > '\r' && character < ' ' && character !== '\u001b'),
    );
  } catch {
    return false;
  }
}

/** The type a stored file is served as; what was never to be stored is served as bytes. */
export function typeOfName(name: string): string {
  const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(uploadTypes, extension)
    ? (uploadTypes[extension] ?? 'application/octet-stream')
    : 'application/octet-stream';
}
