import { createRequire } from 'node:module';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface S3rver {
  run(): Promise<{ readonly port: number }>;
  close(): Promise<void>;
}

/** The package has no types. */
const S3rver = createRequire(import.meta.url)('s3rver') as new (options: Readonly<Record<string, unknown>>) => S3rver;

export interface S3Server {
  /** What a host needs to store uploads in a bucket of the server. */
  readonly env: Readonly<Record<'UPLOADS_S3_BUCKET' | 'UPLOADS_S3_ENDPOINT', string>>;
  stop(): Promise<void>;
}

const keys = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };

/** An S3 server of this machine with one empty bucket. Its keys are in the environment until `stop`. */
export async function startS3Server(): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 's3-'));
  const bucket = 'uploads-of-tests';
  const server = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory,
    configureBuckets: [{ name: bucket, configs: [] }],
  });
  const { port } = await server.run();
  const before = Object.keys(keys).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, keys);
  return {
    env: { UPLOADS_S3_BUCKET: bucket, UPLOADS_S3_ENDPOINT: `http://127.0.0.1:${port}` },
    async stop() {
      for (const [name, value] of before)
        if (value === undefined) Reflect.deleteProperty(process.env, name);
        else process.env[name] = value;
      await server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
