import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { secretVariables, variables } from '../../../host/start/variables.ts';

const root = join(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
/** Variables of the programs beside the host. */
const others = /^(NODE_ENV|NODE_IMAGE|AWS_\w+|POSTGRES_\w+|ROOT_\w+)$/;
const known = (name: string): boolean =>
  others.test(name) ||
  (variables as readonly string[]).includes(name) ||
  (name.endsWith('_FILE') && secretVariables.has(name.slice(0, -5)));

describe('the files for deployment', () => {
  const files = [
    'Dockerfile',
    'compose.yaml',
    ...readdirSync(join(root, 'host/deploy')).map((name) => `host/deploy/${name}`),
  ];

  it('set variables that the host reads, and no other', () => {
    const sets = /^(?:ENV |Environment=|[A-Z][A-Z_0-9]+: )|TRUST_PROXY=|\bname: [A-Z_]+, value: /;
    const lines = files.flatMap((file) => read(file).split('\n')).filter((line) => sets.test(line.trim()));
    const names = lines.flatMap((line) =>
      [...line.matchAll(/\b([A-Z][A-Z_0-9]{2,})(?==|: |, value)/g)].map(([, name = '']) => name),
    );
    expect(names).to.include.members(['DATA_DIR', 'DATABASE_URL', 'PLUGIN_DIRS', 'ROLE', 'SITE_URL', 'TRUST_PROXY']);
    expect(names.filter((name) => !known(name))).to.deep.equal([]);
  });

  it('run programs of the host that exist', () => {
    const programs = files.flatMap((file) =>
      [...read(file).matchAll(/\bhost\/[\w/]+\.(?:js|ts)\b/g)].map(([path]) => path),
    );
    expect([...new Set(programs)].sort()).to.deep.equal(['host/cli/main.js', 'host/main.js', 'host/sources/build.js']);
    for (const path of programs) expect(read(path)).not.to.equal('');
  });

  describe('that watch a site', () => {
    let host: TestHost;
    before(async () => void (host = await createTestHost({ plugins: ['svc'] })));
    after(() => host.stop());

    for (const file of ['host/deploy/alerts.yml', 'host/deploy/grafana.json'])
      it(`name metrics that it has, with their labels (${file})`, async () => {
        const metrics = await (await host.fetch('/metrics')).text();
        const types = new Map(
          [...metrics.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', type]) => [name, type]),
        );
        const named = [
          ...read(file).matchAll(/\b((?:svc|http|host|job|jobs|event_loop|process)(?:_\w+)?)(?=\{|\[| =|\) [>=])/g),
        ];
        const names = [...new Set(named.map(([, name = '']) => name))];
        expect(names).to.include.members([
          'svc_usage_calls_total',
          'svc_webhook_failed_total',
          'host_secrets_unreadable',
        ]);
        for (const name of names)
          expect(types.get(name) ?? types.get(name.replace(/_bucket$/, '')), name).to.be.oneOf([
            'counter',
            'gauge',
            'histogram',
          ]);
        // Calls are counted once for each kind of caller: a sum over all of them would count each call several times.
        const usage = [...read(file).matchAll(/svc_usage_\w+(\{[^}]*\})?/g)].map(([, labels = '']) => labels);
        expect(usage.every((labels) => labels.includes('by='))).to.equal(true);
      });
  });
});
