/** Allowed file extensions with the served type. The filter `upload_mimes` changes them. */
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

/** Text types, which have no signature. */
const plainText = new Set(['text/plain', 'text/csv', 'text/markdown', 'text/vtt', 'application/json']);

/** Types whose code browsers execute. They are never served inline, whatever a filter allows. */
const executableTypes = [
  /^text\/html$/i,
  /^(?:text|application)\/xml$/i,
  /\+xml$/i,
  /^(?:text|application)\/(?:x-)?(?:java|ecma)script$/i,
  /^application\/(?:x-shockwave-flash|(?:x-httpd-)?php)$/i,
];

export function isExecutable(mimeType: string): boolean {
  return executableTypes.some((type) => type.test(mimeType)) && !/^application\/(?:vnd\.|epub)/.test(mimeType);
}

/** Whether a browser may display the type inline. Other types are downloaded. */
export function canShowInline(mimeType: string): boolean {
  return !isExecutable(mimeType) && /^(?:image|audio|video)\/|^application\/pdf$|^text\/(?:plain|vtt)$/.test(mimeType);
}

/** Different names of the same type. */
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

function toCanonicalType(mimeType: string): string {
  const first = synonyms[mimeType] ?? mimeType;
  return synonyms[first] ?? first;
}

export interface CheckedFile {
  readonly extension: string;
  readonly mimeType: string;
}

/**
 * Determines the type of a file from content and name. Corrects a wrong image extension and rejects any other mismatch.
 *
 * @param allowed types by extension without dot.
 * @returns the type, or the reason for rejecting the file.
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
    return extension === ''
      ? 'The file name has no extension.'
      : `Files with the extension .${extension} are not allowed.`;
  if (isExecutable(wanted)) return 'Browsers would execute it.';
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(bytes);
  if (found === undefined)
    return plainText.has(wanted) && isReadableText(bytes)
      ? { extension, mimeType: wanted }
      : `The content does not match a .${extension} file.`;
  if (toCanonicalType(found.mime) === toCanonicalType(wanted)) return { extension, mimeType: wanted };
  const matchingExtension = Object.keys(allowed).find(
    (candidate) => toCanonicalType(allowed[candidate] ?? '') === toCanonicalType(found.mime),
  );
  if (
    matchingExtension !== undefined &&
    wanted.startsWith('image/') &&
    found.mime.startsWith('image/') &&
    !isExecutable(found.mime)
  )
    return { extension: matchingExtension, mimeType: allowed[matchingExtension] ?? found.mime };
  return `The extension is .${extension}, but the content is ${found.mime}.`;
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

/** The type of a stored file. Unknown extensions are served as bytes. */
export function mimeTypeForName(name: string): string {
  const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(uploadTypes, extension)
    ? (uploadTypes[extension] ?? 'application/octet-stream')
    : 'application/octet-stream';
}
