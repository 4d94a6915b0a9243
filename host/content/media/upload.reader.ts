import { isExecutable } from './file-types.ts';

/** Text types, which have no signature. */
const plainText = new Set(['text/plain', 'text/csv', 'text/markdown', 'text/vtt', 'application/json']);

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

export interface UploadedFile {
  readonly bytes: Uint8Array;
  readonly name: string;
  /** Types by extension without dot. */
  readonly allowed: Readonly<Record<string, string>>;
}

export interface CheckedFile {
  readonly extension: string;
  readonly mimeType: string;
}

/**
 * Determines the type of a file from content and name. Corrects a wrong image extension and rejects any other mismatch.
 *
 * @returns the type, or the reason for rejecting the file.
 */
async function checkFile({ bytes, name, allowed }: UploadedFile): Promise<CheckedFile | string> {
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

/** Displayed size in pixels, after EXIF rotation. Empty for files that are not images, and for unreadable ones. */
export interface Dimensions {
  readonly width?: number;
  readonly height?: number;
}

/** Checks an upload in a thread, and reads the size of an image. Text: the reason for rejecting the file. */
export async function inspectUpload(file: UploadedFile): Promise<(CheckedFile & Dimensions) | string> {
  const checked = await checkFile(file);
  return typeof checked === 'string' || !checked.mimeType.startsWith('image/')
    ? checked
    : { ...checked, ...(await dimensions(file.bytes)) };
}

async function dimensions(bytes: Uint8Array): Promise<Dimensions> {
  const { imageSize } = await import('image-size');
  try {
    const { width, height, orientation = 1 } = imageSize(bytes);
    return orientation >= 5 ? { width: height, height: width } : { width, height };
  } catch {
    return {};
  }
}
