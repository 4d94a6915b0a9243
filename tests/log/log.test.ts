import { expect } from 'chai';
import { createLogger } from '../../host/log/log.ts';
import type { Level } from '../../host/log/log.ts';
import { createRedactor } from '../../host/log/redactor.ts';

function recording(level: Level | 'silent' = 'debug', readable = false) {
  const lines: string[] = [];
  const redactor = createRedactor();
  const log = createLogger({
    level,
    clock: { now: () => Date.UTC(2026, 10, 20, 10, 0, 52) },
    write: (line) => lines.push(line),
    redactor,
    readable,
  });
  return { log, redactor, lines, last: () => JSON.parse(lines.at(-1)!) as Record<string, unknown> };
}

describe('logger', () => {
  it('writes one JSON object a line with time, level, message and fields', () => {
    const { log, lines, last } = recording();
    log.info('Ready.', { port: 3000 });
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(/^[^\n]+\n$/);
    expect(last()).to.deep.equal({ time: '2026-11-20T10:00:52.000Z', level: 'info', message: 'Ready.', port: 3000 });
  });

  it('drops lines below its level, and all of them when silent', () => {
    const warn = recording('warn');
    warn.log.info('no');
    warn.log.child({ a: 1 }).debug('no');
    warn.log.warn('yes');
    warn.log.error('yes');
    expect(warn.lines).to.have.length(2);
    const silent = recording('silent');
    silent.log.error('no');
    expect(silent.lines).to.deep.equal([]);
  });

  it('gives a child the fields of its parents, the nearest winning', () => {
    const { log, last } = recording();
    log.child({ plugin: 'svc', part: 'a' }).child({ part: 'b' }).info('Hello.', { n: 1 });
    expect(last()).to.include({ plugin: 'svc', part: 'b', n: 1 });
  });

  it('keeps its own members when a field has the same name', () => {
    const { log, last } = recording();
    log.info('Real.', { message: 'forged', level: 'error' });
    expect(last()).to.include({ message: 'Real.', level: 'info', fields_message: 'forged', fields_level: 'error' });
  });

  it('writes errors with name, message, stack, code and cause', () => {
    const { log, last } = recording();
    log.error('Failed.', {
      error: Object.assign(new TypeError('outer', { cause: new Error('inner') }), { code: 'E_OUTER' }),
    });
    const error = last()['error'] as { cause: Record<string, unknown>; stack: string };
    expect(error).to.include({ name: 'TypeError', message: 'outer', code: 'E_OUTER' });
    expect(error.stack).to.include('log.test.ts');
    expect(error.cause).to.include({ name: 'Error', message: 'inner' });
  });

  it('hides members with secret names at any depth, but not counts of tokens', () => {
    const { log, last } = recording();
    log.info('Saved.', {
      settings: {
        api_key: 'a',
        apiKey: 'b',
        headers: { Authorization: 'Bearer c', 'Set-Cookie': 'd' },
        list: [{ password: 'e' }],
      },
      usage: { input_tokens: 7 },
      keyboard: 'qwertz',
      monkey: 'yes',
      svc_api_key: 'f',
      signing_secret: 'g',
      accessToken: 'h',
      key: '',
    });
    expect(last()).to.deep.include({
      settings: {
        api_key: '[redacted]',
        apiKey: '[redacted]',
        headers: { Authorization: '[redacted]', 'Set-Cookie': '[redacted]' },
        list: [{ password: '[redacted]' }],
      },
      usage: { input_tokens: 7 },
      keyboard: 'qwertz',
      monkey: 'yes',
      svc_api_key: '[redacted]',
      signing_secret: '[redacted]',
      accessToken: '[redacted]',
      key: '',
    });
  });

  it('cuts a known secret out of messages, fields, names, error messages and stacks', () => {
    const { log, redactor, lines } = recording();
    redactor.add('sk-very"secret');
    const error = new Error('Refused sk-very"secret here', { cause: { note: 'sk-very"secret' } });
    log.error('Sent sk-very"secret', {
      error,
      nested: [{ url: `https://x.example/?k=${encodeURIComponent('sk-very"secret')}` }],
      'sk-very"secret': 1,
      raw: '{"a":"sk-very\\"secret"}',
    });
    expect(lines.join('')).not.to.include('sk-very');
    expect(lines.join('')).to.include('Refused [redacted] here');
  });

  it('survives circles, throwing getters, depths, huge texts and values JSON cannot hold', () => {
    const { log, last } = recording();
    const circle: Record<string, unknown> = {
      n: 1n,
      f: () => 1,
      nan: NaN,
      bytes: Buffer.from('abc'),
      set: new Set([1]),
      map: new Map([['token', 'x']]),
    };
    circle['self'] = circle;
    const deep = JSON.parse('{"a":'.repeat(50) + '1' + '}'.repeat(50)) as unknown;
    log.info('Odd.', {
      circle,
      deep,
      huge: 'x'.repeat(1_000_000),
      list: Array.from({ length: 5000 }, () => 1),
      get bad(): string {
        return 'fine';
      },
      thrower: {
        get x(): never {
          throw new Error('no');
        },
      },
    });
    expect(last()).to.deep.include({
      circle: {
        n: '1',
        f: '[function f]',
        nan: 'NaN',
        bytes: '[3 bytes]',
        set: [1],
        map: { token: '[redacted]' },
        self: '[circular]',
      },
      thrower: '[unreadable]',
    });
    expect(JSON.stringify(last()).length).to.be.below(20_000);
  });

  it('names the plugin whose code threw, also in a line of another plugin', () => {
    const lines: string[] = [];
    const write = (line: string): void => void lines.push(line);
    const pluginOf = (error: unknown): string | null => (error instanceof RangeError ? 'thrower' : null);
    const log = createLogger({ level: 'debug', clock: { now: () => 0 }, write, pluginOf });
    const [foreign, other] = [new RangeError('x'), new Error('y')];
    log.error('Failed', { error: foreign });
    log.child({ plugin: 'svc' }).error('Failed', { error: foreign });
    log.child({ plugin: 'svc' }).error('Failed', { error: other });
    log.child({ plugin: 'svc' }).error('Failed', { error: foreign, plugin: 'named' });
    log.error('Failed', { error: foreign, owner: 'owner' });
    log.child({ plugin: 'svc' }).error('Failed', null as never);
    expect(lines.map((line) => (JSON.parse(line) as { plugin?: string }).plugin)).to.deep.equal([
      'thrower',
      'thrower',
      'svc',
      'named',
      'owner',
      'svc',
    ]);
  });

  it('writes a readable line with the stack below for people', () => {
    const { log, lines } = recording('debug', true);
    log.warn('Careful\u001b[2J', { part: 'cron', error: new Error('broken') });
    const plain = lines[0]!.replace(/\u001b\[\d+m/g, '');
    expect(plain).to.match(/^10:00:52 WARN {2}Careful�\[2J part=cron error=broken\n {4}Error: broken\n/);
  });

  it('never throws: what cannot be written is replaced by a line that says so, or lost', () => {
    const clock = { now: () => 0 };
    const lines: string[] = [];
    const write = (line: string): void => void lines.push(line);
    const broken = (): never => {
      throw new SyntaxError('Regular expression too large');
    };
    createLogger({ level: 'debug', clock, write, pluginOf: broken }).error('Failed', { error: new Error('x') });
    expect(JSON.parse(lines[0]!)).to.include({ message: 'Failed to write log line', level: 'error' });
    createLogger({ level: 'debug', clock, write: broken }).error('Failed');
    createLogger({ level: 'debug', clock, write, redactor: { redact: broken } }).error('Failed');
    createLogger({ level: 'debug', clock: { now: () => NaN }, write }).error('Failed');
    createLogger({ level: 'debug', clock, write, readable: true }).error(Object.create(null) as string);
    expect(lines).to.have.length(2);
  });
});
