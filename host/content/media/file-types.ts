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

/** The type of a stored file. Unknown extensions are served as bytes. */
export function mimeTypeForName(name: string): string {
  const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(uploadTypes, extension)
    ? (uploadTypes[extension] ?? 'application/octet-stream')
    : 'application/octet-stream';
}
