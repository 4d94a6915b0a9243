import { expect } from 'chai';
import type { CliCommand } from '#plugin-api';
import { createCliRegistry } from '../../host/cli/registry.ts';

const echo: CliCommand = {
  name: 'site echo',
  description: 'Prints what it was given',
  args: [
    { name: 'first', description: 'A word' },
    { name: 'more', description: 'Further words', optional: true, rest: true },
  ],
  flags: {
    'base-url': { type: 'string' },
    user_pass: { type: 'string' },
    count: { type: 'integer', minimum: 1 },
    loud: { type: 'boolean' },
    options: { type: 'object' },
  },
  run: (input) => Promise.resolve(input),
};

async function run(
  commands: readonly CliCommand[],
  ...argv: string[]
): Promise<{ code: number; out: string; err: string }> {
  return runIn(undefined, commands, ...argv);
}

/** @param columns of the terminal. */
async function runIn(
  columns: number | undefined,
  commands: readonly CliCommand[],
  ...argv: string[]
): Promise<{ code: number; out: string; err: string }> {
  const registry = createCliRegistry();
  for (const command of commands) registry.addCommand(command);
  const said = { out: '', err: '' };
  const code = await registry.run(argv, {
    ...(columns !== undefined && { columns }),
    out: (text) => (said.out += `${text}\n`),
    err: (text) => (said.err += `${text}\n`),
  });
  return { code, ...said };
}

const answering = (answer: unknown): CliCommand => ({
  name: 'answer',
  description: 'Answers',
  run: () => Promise.resolve(answer),
});

describe('the command line', () => {
  const choosing: CliCommand = {
    name: 'list',
    description: 'Lists',
    flags: {
      limit: { type: 'integer', minimum: 1, default: 20, description: 'Rows.' },
      state: { type: 'string', enum: ['open', 'done'], default: 'open', description: 'State.' },
      level: { type: 'integer', enum: [1, 2], description: 'Level.' },
      filter: { type: 'object', default: { a: 1 } },
      loud: { type: 'boolean', default: false },
    },
    run: ({ flags }) => Promise.resolve(flags),
  };

  it('hands a command the defaults of the flags that are not given', async () => {
    const { out } = await run([choosing], 'list', '--limit=3', '--json');
    expect(JSON.parse(out)).to.deep.equal({ limit: 3, state: 'open', filter: { a: 1 }, loud: false });
  });

  it('shows defaults and choices in the help', async () => {
    const { out } = await run([choosing], 'list', '--help');
    expect(out)
      .to.match(/Rows\. Default: 20\./)
      .and.to.match(/State\. Choices: open, done\. Default: open\./);
    expect(out).to.match(/Level\. Choices: 1, 2\.\s/);
  });

  it('refuses what is none of the choices', async () => {
    expect(await run([choosing], 'list', '--state=lost')).to.include({
      code: 1,
      err: "Error: --state is 'lost'; it must be one of open, done.\n",
    });
    expect((await run([choosing], 'list', '--level=3')).err).to.equal(
      "Error: --level is '3'; it must be one of 1, 2.\n",
    );
  });

  it('hands a command its arguments and its flags as their types', async () => {
    const { code, out } = await run(
      [echo],
      'site',
      'echo',
      'a',
      'b',
      'c',
      '--base-url=http://x/?a=b',
      '--user_pass',
      'p',
      '--count=3',
      '--loud',
      '--options={"a":1}',
      '--json',
    );
    expect(code).to.equal(0);
    expect(JSON.parse(out)).to.deep.equal({
      args: ['a', 'b', 'c'],
      flags: { 'base-url': 'http://x/?a=b', user_pass: 'p', count: 3, loud: true, options: { a: 1 } },
    });
  });

  it('hands over an empty flag and leaves out those not given', async () => {
    const { out } = await run([echo], 'site', 'echo', 'a', '--base-url=', '--json');
    expect(JSON.parse(out)).to.deep.equal({ args: ['a'], flags: { 'base-url': '' } });
  });

  it('refuses in one sentence and exit code 1', async () => {
    const cases: [string[], string][] = [
      [['site', 'echo'], "missing required argument 'first'"],
      [['site', 'echo', 'a', '--count=many'], "--count is 'many'; it must be a whole number."],
      [['site', 'echo', 'a', '--count=0'], 'Error: --count must be 1 or more.'],
      [['site', 'echo', 'a', '--options=[1]'], "--options is '[1]'; it must be a JSON object."],
      [['site', 'echo', 'a', '--lout'], "unknown option '--lout'"],
      [['site', 'ecko', 'a'], "unknown command 'ecko'"],
    ];
    for (const [argv, sentence] of cases) {
      const { code, out, err } = await run([echo], ...argv);
      expect(code, argv.join(' ')).to.equal(1);
      expect(err)
        .to.match(/^Error: /)
        .and.to.include(sentence);
      expect(out).to.equal('');
    }
  });

  it('names the nearest command when one is misspelt', async () => {
    expect((await run([echo], 'sit', 'echo')).err).to.include('site');
  });

  it("prints a command's own error as one line, without its stack", async () => {
    const failing: CliCommand = {
      name: 'fail',
      description: 'Fails',
      run: () => Promise.reject(new Error('No such bot; see svc bot list.')),
    };
    expect(await run([failing], 'fail')).to.deep.equal({
      code: 1,
      out: '',
      err: 'Error: No such bot; see svc bot list.\n',
    });
  });

  it('puts the widest columns of a table below each row where the terminal is narrower, and not in a pipe', async () => {
    const sentence = 'The plugin in plugins hides the one of the same name in other. Rename one of them.';
    const list = [
      { slug: 'hello', state: 'active', failure: '', warnings: sentence },
      { slug: 'shop', state: 'failed', failure: 'register: no way', warnings: '' },
    ];
    const said = async (columns: number | undefined): Promise<string[]> =>
      (await runIn(columns, [answering(list)], 'answer')).out.trimEnd().split('\n');
    expect(await said(undefined)).to.deep.equal([
      'slug   state   failure           warnings',
      `hello  active                    ${sentence}`,
      'shop   failed  register: no way',
    ]);
    expect(await said(80)).to.deep.equal([
      'slug   state   failure',
      'hello  active',
      '  warnings: The plugin in plugins hides the one of the same name in other.',
      '    Rename one of them.',
      'shop   failed  register: no way',
    ]);
    expect(await said(20)).to.deep.equal([
      'slug   state',
      'hello  active',
      ...['  warnings: The', '    plugin in', '    plugins hides', '    the one of the', '    same name in'],
      ...['    other. Rename', '    one of them.'],
      ...['shop   failed', '  failure: register:', '    no way'],
    ]);
    const { out } = await runIn(20, [answering(list)], 'answer', '--json');
    expect(JSON.parse(out)).to.deep.equal(list);
  });

  it('prints lists as tables, objects as lines, strings as they are', async () => {
    expect(
      (
        await run(
          [
            answering([
              { id: 1, name: 'a' },
              { id: 22, name: 'bb' },
            ]),
          ],
          'answer',
        )
      ).out,
    ).to.equal('id  name\n1   a\n22  bb\n');
    expect((await run([answering({ id: 1, list: ['x'] })], 'answer')).out).to.equal('id: 1\nlist: ["x"]\n');
    expect((await run([answering('done')], 'answer')).out).to.equal('done\n');
    expect((await run([answering([])], 'answer')).out).to.equal('None.\n');
    expect((await run([answering(undefined)], 'answer')).out).to.equal('');
  });

  it('prints anything as JSON when asked', async () => {
    expect((await run([answering(undefined)], 'answer', '--json')).out).to.equal('null\n');
    expect(JSON.parse((await run([answering(['x'])], 'answer', '--json')).out)).to.deep.equal(['x']);
  });

  it('answers a command whose --json takes its input as JSON too', async () => {
    const create: CliCommand = {
      name: 'create',
      description: 'Creates',
      flags: { json: { type: 'object' } },
      run: ({ flags }) => Promise.resolve({ id: 1, ...(flags['json'] as object) }),
    };
    expect(JSON.parse((await run([create], 'create', '--json', '{"name":"a"}')).out)).to.deep.equal({
      id: 1,
      name: 'a',
    });
  });

  it('shows help at every level with exit code 0', async () => {
    for (const argv of [['--help'], ['site', '--help'], ['site', 'echo', '--help']]) {
      const { code, out } = await run([echo], ...argv);
      expect([code, out.includes('Usage:')], argv.join(' ')).to.deep.equal([0, true]);
    }
  });

  it('asks for no further commands when the line names one in full', async () => {
    const registry = createCliRegistry();
    let asked = 0;
    registry.addCommand(echo);
    registry.addCommand({ ...echo, name: 'state', args: [] });
    registry.addCommands(() => Promise.resolve([{ ...echo, name: `state more${String((asked += 1))}`, args: [] }]));
    const output = { out: () => undefined, err: () => undefined };
    for (const argv of [['site', 'echo', 'a'], ['site', 'echo', '--help'], ['state'], ['state', '--json']])
      expect(await registry.run(argv, output)).to.equal(0);
    expect(asked).to.equal(0);
    expect(await registry.run(['state', 'more1'], output)).to.equal(0);
    expect(await registry.run(['site', '--help'], output)).to.equal(0);
    expect(asked).to.equal(2);
  });

  it('refuses two commands of one name, and forgets one that is taken back', async () => {
    const registry = createCliRegistry();
    const undo = registry.addCommand(echo);
    expect(() => registry.addCommand(echo)).to.throw("'site echo'");
    undo();
    expect(await registry.run(['site', 'echo', 'a'], { out: () => undefined, err: () => undefined })).to.equal(1);
  });

  it('asks for commands only when a command line runs, and keeps the others when some cannot be loaded', async () => {
    const registry = createCliRegistry();
    let asked = 0;
    const undo = registry.addCommands(() => Promise.resolve([{ ...echo, name: `site late${String((asked += 1))}` }]));
    registry.addCommands(() => Promise.reject(new Error('gone.ts is gone.')));
    registry.addCommand(echo);
    registry.addCommands(() => Promise.resolve([{ ...echo, description: 'Second of its name' }]));
    expect(asked).to.equal(0);
    const said = { out: '', err: '' };
    const output = {
      out: (text: string) => void (said.out += `${text}\n`),
      err: (text: string) => void (said.err += `${text}\n`),
    };
    expect(await registry.run(['site', 'late1', 'a', '--json'], output)).to.equal(0);
    expect(JSON.parse(said.out)).to.deep.equal({ args: ['a'], flags: {} });
    expect(said.err).to.include('gone.ts is gone.').and.include("The command 'site echo' already exists");
    undo();
    expect(await registry.run(['site', 'late2', 'a'], output)).to.equal(1);
  });
});
