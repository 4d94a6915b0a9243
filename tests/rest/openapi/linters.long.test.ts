import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { createTestHost } from '#testing';
import { checkout } from '../../helpers/running-site.ts';

const run = promisify(execFile);

/** All rules count as errors, but for those of style: a license and a contact, which a site has not, and a text for each tag and operation. */
const redocly = `extends: [recommended-strict]
rules:
  info-license: off
  tag-description: off
`;
const spectral = `extends: [spectral:oas]
rules:
  info-contact: off
  operation-description: off
`;

describe('linters of OpenAPI', () => {
  let folder: string;
  const files: string[] = [];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'openapi-'));
    const host = await createTestHost({ plugins: ['svc'] });
    try {
      const { namespaces } = (await (await host.fetch('/wp-json/')).json()) as { namespaces: string[] };
      expect(namespaces).to.include.members([
        'svc/v1',
        'svc-openai/v1',
        'svc-anthropic/v1',
        'svc-admin/v1',
        'wp/v2',
        'wp-abilities/v1',
        'mcp',
      ]);
      for (const namespace of ['', ...namespaces]) {
        const path = namespace === '' ? '/wp-json/openapi.json' : `/wp-json/${namespace}/openapi.json`;
        const response = await host.fetch(path);
        expect(response.status, path).to.equal(200);
        const name = `${namespace.replaceAll('/', '-') || 'root'}.json`;
        files.push(name);
        await writeFile(join(folder, name), await response.text());
      }
    } finally {
      await host.stop();
    }
    await writeFile(join(folder, 'redocly.yaml'), redocly);
    await writeFile(join(folder, 'spectral.yaml'), spectral);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function lint(script: string, ...flags: readonly string[]): Promise<string> {
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const argv = [join(checkout, 'node_modules', script), 'lint', ...flags, ...files];
    const { stdout, stderr } = await run(process.execPath, argv, { cwd: folder, env, maxBuffer: 64 * 1_048_576 }).catch(
      (error: unknown) => error as { readonly stdout: string; readonly stderr: string },
    );
    return stdout + stderr;
  }

  it('find nothing in any document that a site serves: Redocly', async () => {
    const said = await lint('@redocly/cli/bin/cli.js', '--config=redocly.yaml', '--format=stylish');
    expect(said).to.contain('Your API descriptions are valid').and.not.to.contain('You have ');
  });

  it('find nothing in any document that a site serves: Spectral', async () => {
    const said = await lint('@stoplight/spectral-cli/dist/index.js', '--ruleset=spectral.yaml', '--fail-severity=hint');
    expect(said).to.contain("No results with a severity of 'hint' or higher found!");
  });
});
