import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { curlCommand } from '../../../plugins/svc/settings/example-model.ts';

describe('the ready curl command', () => {
  it('reaches curl as it is meant when pasted into a shell, whatever key and model hold', () => {
    const key = `it's $HOME \`whoami\` "quoted" \\ end`;
    const command = curlCommand({
      url: 'http://site.test/wp-json/svc/v1/generate',
      key,
      provider: 'acme',
      model: `o'model`,
    });
    const printed = execFileSync(
      '/bin/sh',
      ['-c', `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${command}`],
      { encoding: 'utf8' },
    );
    const words = printed.split('\0');
    expect(words).to.include('http://site.test/wp-json/svc/v1/generate').and.include(`Authorization: Bearer ${key}`);
    const body = JSON.parse(words[words.indexOf('-d') + 1] ?? '') as { model: string; messages: unknown[] };
    expect(body).to.deep.include({ provider: 'acme', model: `o'model` });
    expect(body.messages).to.have.length(1);
  });
});
