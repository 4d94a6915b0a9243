import type { GetObjectCommandOutput, HeadObjectCommandOutput, S3Client } from '@aws-sdk/client-s3';
import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Logger } from '#plugin-api';
import { isUploadPath, privatePath, safeStem, type UploadExchange, type UploadStore } from './upload-store.ts';

/** A bucket of an S3-compatible store. Keys come from where the SDK looks for them, such as `AWS_ACCESS_KEY_ID`. */
export interface BucketSettings {
  readonly bucket: string;
  /** Null: Amazon S3. Others are addressed with the bucket in the path. */
  readonly endpoint: string | null;
  readonly region: string;
}

/** Milliseconds. */
const connectionTimeout = 5_000;
/** Milliseconds without a byte. */
const socketTimeout = 60_000;

type Sdk = typeof import('@aws-sdk/client-s3');

interface Bucket {
  readonly sdk: Sdk;
  readonly client: S3Client;
}

/**
 * Uploads in a bucket. The paths are the keys, so that the files of a folder can be copied as they are. The SDK is loaded at
 * the first use. Public names get a random suffix: not every store can refuse to overwrite an object, and no node may overwrite
 * the file of another.
 */
export function createUploadBucket(
  { bucket: Bucket, endpoint, region }: BucketSettings,
  { log }: { readonly log: Logger },
): UploadStore {
  let opened: Promise<Bucket> | undefined;
  const open = (): Promise<Bucket> => (opened ??= connect({ endpoint, region }));

  async function remove(file: string): Promise<void> {
    if (!isUploadPath(file)) return;
    const { sdk, client } = await open();
    await client.send(new sdk.DeleteObjectCommand({ Bucket, Key: file }));
  }

  async function has(file: string): Promise<boolean> {
    if (!isUploadPath(file)) return false;
    const { sdk, client } = await open();
    return (await ifFound(client.send(new sdk.HeadObjectCommand({ Bucket, Key: file })))) !== null;
  }

  return {
    missingHint: `Copy them to the bucket ${Bucket} (UPLOADS_S3_BUCKET).`,
    remove,
    has,
    async check() {
      const { sdk, client } = await open();
      await client.send(new sdk.HeadBucketCommand({ Bucket })).catch((cause: unknown) => {
        const reason = `${(cause as Error).name}${statusOf(cause) === undefined ? '' : `, status ${statusOf(cause)}`}`;
        throw new Error(
          `The bucket ${Bucket} cannot be reached (${reason}). Check UPLOADS_S3_BUCKET, UPLOADS_S3_ENDPOINT, ` +
            'UPLOADS_S3_REGION and the keys (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY).',
          { cause },
        );
      });
    },
    async write({ month, name, extension, bytes, isPrivate = false }) {
      const file = isPrivate
        ? privatePath(month, extension)
        : `${month}/${safeStem(name)}-${randomBytes(8).toString('hex')}.${extension}`;
      const { sdk, client } = await open();
      try {
        await client.send(new sdk.PutObjectCommand({ Bucket, Key: file, Body: bytes }));
      } catch (error) {
        // The store may have the object although its response was lost.
        await remove(file).catch(() => undefined);
        throw error;
      }
      return file;
    },
    async move(from, to) {
      if (!isUploadPath(from) || !isUploadPath(to)) return false;
      const { sdk, client } = await open();
      const CopySource = `${Bucket}/${from.split('/').map(encodeURIComponent).join('/')}`;
      const copied = await ifFound(client.send(new sdk.CopyObjectCommand({ Bucket, Key: to, CopySource })));
      if (copied === null) return has(to);
      await remove(from);
      return true;
    },
    async read(file) {
      if (!isUploadPath(file)) return null;
      const { sdk, client } = await open();
      const found = await ifFound(client.send(new sdk.GetObjectCommand({ Bucket, Key: file })));
      return found === null ? null : ((await found.Body?.transformToByteArray()) ?? new Uint8Array());
    },
    async respond(file, exchange) {
      if (!isUploadPath(file)) return false;
      return respond(await open(), { Bucket, Key: file }, { ...exchange, log });
    },
    async close() {
      const { client } = (await opened?.catch(() => undefined)) ?? {};
      client?.destroy();
    },
  };
}

async function connect({ endpoint, region }: Pick<BucketSettings, 'endpoint' | 'region'>): Promise<Bucket> {
  const sdk = await import('@aws-sdk/client-s3');
  const client = new sdk.S3Client({
    region,
    ...(endpoint !== null && { endpoint, forcePathStyle: true }),
    // Checksums of newer SDKs are refused by many compatible stores.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout, socketTimeout },
  });
  return { sdk, client };
}

interface ObjectKey {
  readonly Bucket: string;
  readonly Key: string;
}

type Found = GetObjectCommandOutput | HeadObjectCommandOutput;

/** Streams the object: memory does not grow with its size. */
async function respond(
  { sdk, client }: Bucket,
  key: ObjectKey,
  { request, response, setHeaders, log }: UploadExchange & { readonly log: Logger },
): Promise<boolean> {
  const input = { ...key, ...conditionsOf(request) };
  let found: Found;
  try {
    found = await (request.method === 'HEAD'
      ? client.send(new sdk.HeadObjectCommand(input))
      : client.send(new sdk.GetObjectCommand(input)));
  } catch (error) {
    const status = statusOf(error);
    if (status === 404 && (error as Error).name !== 'NoSuchBucket') return false;
    if (status !== 304 && status !== 416) throw error;
    setHeaders();
    for (const name of ['Content-Type', 'Content-Disposition']) response.removeHeader(name);
    response.writeHead(status).end();
    return true;
  }
  setHeaders();
  writeObjectHeaders(response, found);
  if (!('Body' in found) || found.Body === undefined) {
    response.end();
    return true;
  }
  try {
    await pipeline(found.Body as Readable, response);
  } catch (error) {
    // A visitor who leaves is no error; a part of a file ends with the connection.
    if (!request.destroyed) log.warn('Failed to send an upload', { event: 'upload_read_failed', file: key.Key, error });
    response.destroy();
  }
  return true;
}

function writeObjectHeaders(response: UploadExchange['response'], found: Found): void {
  response.statusCode = found.ContentRange === undefined ? 200 : 206;
  response.setHeader('Accept-Ranges', 'bytes');
  if (found.ContentRange !== undefined) response.setHeader('Content-Range', found.ContentRange);
  if (found.ContentLength !== undefined) response.setHeader('Content-Length', found.ContentLength);
  if (found.ETag !== undefined) response.setHeader('ETag', found.ETag);
  if (found.LastModified !== undefined) response.setHeader('Last-Modified', found.LastModified.toUTCString());
}

interface Conditions {
  readonly Range?: string;
  readonly IfNoneMatch?: string;
  readonly IfModifiedSince?: Date;
}

/** `If-Range` is not known to S3: then the whole file is sent, which RFC 9110 allows. */
function conditionsOf({ headers, method }: UploadExchange['request']): Conditions {
  const { range, 'if-none-match': tag, 'if-modified-since': since } = headers;
  const date = new Date(since ?? NaN);
  return {
    ...(range !== undefined &&
      /^bytes=\d*-\d*$/.test(range) &&
      !headers['if-range'] &&
      method === 'GET' && { Range: range }),
    ...(tag !== undefined && { IfNoneMatch: tag }),
    ...(tag === undefined && !Number.isNaN(date.getTime()) && { IfModifiedSince: date }),
  };
}

/** Null: the object does not exist. */
async function ifFound<Output>(response: Promise<Output>): Promise<Output | null> {
  try {
    return await response;
  } catch (error) {
    if (statusOf(error) === 404 && (error as Error).name !== 'NoSuchBucket') return null;
    throw error;
  }
}

/** The HTTP status of an error of the SDK. */
function statusOf(error: unknown): number | undefined {
  return (error as { readonly $metadata?: { readonly httpStatusCode?: number } }).$metadata?.httpStatusCode;
}
