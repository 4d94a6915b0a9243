import { trimTrailing } from '#plugin-api';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { foldText } from '../html/text.ts';

/**
 * Where uploaded files are: `YYYY/MM/name.ext`, and `private/YYYY/MM/<random>.ext` for files that are not public. A folder,
 * or a bucket of an S3-compatible store. All nodes use the same one.
 */
export interface UploadStore {
  /** Stores bytes under a unique name. Returns the path. */
  write(file: NewUpload): Promise<string>;
  /** Moves a file; can be repeated. False: neither path exists. */
  move(from: string, to: string): Promise<boolean>;
  /** Null: the file does not exist or the path is not one of an upload. */
  read(file: string): Promise<Uint8Array | null>;
  has(file: string): Promise<boolean>;
  /** Ignores a missing file and a path that is not one of an upload. */
  remove(file: string): Promise<void>;
  /**
   * Responds to GET or HEAD with the file, a range of it, or 304 by its entity tag and date.
   *
   * @returns false: the file does not exist, and nothing was sent.
   */
  respond(file: string, exchange: UploadExchange): Promise<boolean>;
  /** What to do about missing files, as a sentence. Null: files do not outlive the process, and none are missed. */
  readonly missingHint: string | null;
  /** @throws Error that says what to do if the files cannot be reached. */
  check(): Promise<void>;
  /** Deletes temporary files and closes connections. */
  close(): Promise<void>;
}

export interface NewUpload {
  /** `2026/05`. */
  readonly month: string;
  readonly name: string;
  readonly extension: string;
  readonly bytes: Uint8Array;
  /** True: stored under `privatePath`, whatever its name. */
  readonly isPrivate?: boolean;
}

export interface UploadExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Sets headers of the response. Runs once, if the file exists. */
  readonly setHeaders: () => void;
}

const pathPattern = /^(?:private\/)?\d{4}\/\d{2}\/[^/\\\0]{1,200}$/;

/** Whether the path is that of an upload. */
export function isUploadPath(file: string): boolean {
  return pathPattern.test(file) && !/(?:^|\/)\./.test(file);
}

/** Whether the path is that of a public upload. */
export function isPublicPath(file: string): boolean {
  return isUploadPath(file) && !isPrivatePath(file);
}

/** Whether a file is stored where only checked requests get it. */
export function isPrivatePath(file: string): boolean {
  return file.startsWith('private/');
}

/** A path that cannot be guessed and is never used again. @param month `2026/05`. */
export function privatePath(month: string, extension: string): string {
  return `private/${month}/${randomBytes(16).toString('hex')}.${extension}`;
}

/** The name without folder and extension, in safe characters. Removes dots, which could suggest another type. */
export function safeStem(name: string): string {
  const base =
    name
      .split(/[/\\]/)
      .at(-1)
      ?.replace(/\.[^.]*$/, '') ?? '';
  return (
    trimTrailing(
      foldText(base)
        .replace(/[^a-z0-9_-]+/g, '-')
        .replace(/^[-_]+/, ''),
      '-',
    ).slice(0, 100) || 'file'
  );
}
