import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';

const shell = promisify(execFile);

describe('commands whose output nothing reads', () => {
  it('finish their work without a stack trace', async function () {
    this.timeout(60_000);
    const folder = await mkdtemp(join(tmpdir(), 'svc-cli-'));
    const env = { ...process.env, DATA_DIR: folder, DATABASE_URL: '' };
    const run = (line: string) => shell('bash', ['-c', `set -o pipefail; ${line}`], { env });
    const { stderr } = await run(
      'node host/cli/main.js option set blogname Shop | true; node host/cli/main.js --help | true',
    );
    for (const trace of ['EPIPE', '    at ']) expect(stderr).not.to.contain(trace);
    expect((await run('node host/cli/main.js option get blogname')).stdout).to.contain('Shop');
    await rm(folder, { recursive: true, force: true });
  });
});
