import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { curlCommand } from '../../../plugins/svc/settings/example-model.ts';

describe('the example curl command', () => {
  it('is correct in a shell, with any key and model', () => {
    const key = `it's $HOME \`whoami\` "quoted" \\ end`;
    const command = curlCommand({
      url: 'http://site.test/wp-json/svc/v1/generate',
      key,
      provider: 'acme',
      model: `o'model`,
    });
    const output = execFileSync(
      '/bin/sh',
      ['-c', `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${command}`],
      { encoding: 'utf8' },
    );
    const printed = output.split('\0');
    expect(printed).to.include('http://site.test/wp-json/svc/v1/generate').and.include(`Authorization: Bearer ${key}`);
    const body = JSON.parse(printed[printed.indexOf('-d') + 1] ?? '') as { model: string; messages: unknown[] };
    expect(body).to.deep.include({ provider: 'acme', model: `o'model` });
    expect(body.messages).to.have.length(1);
  });
});
