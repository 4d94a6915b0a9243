import { shownFilters } from '../../host/hooks/shown-filters.ts';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { fillSections, renderSections, type Sections } from './docs.ts';
import { collectErrorCodes, createErrorProgram, literalCodes, type ErrorCodes } from './error-codes.ts';
import { findHookRuns } from './hook-runs.ts';
import { listHooks } from './hooks-reference.ts';
import { renderDiagram } from './import-arrows.ts';

const read = (file: string): string => readFileSync(file, 'utf8');

describe('generated sections of documents', () => {
  let sections: Sections;

  before(async () => {
    sections = await renderSections();
  });

  it('are current; otherwise, run npm run docs', async () => {
    expect(sections).to.include.keys('README.md', 'host/plugin-api/HOOKS.md', 'plugins/svc/README.md');
    for (const [file, ofFile] of Object.entries(sections))
      expect(read(file), file).to.equal(await fillSections(read(file), ofFile));
  });

  it('say of each hook when it runs', () => {
    const hooks = [...read('host/plugin-api/HOOKS.md').matchAll(/^### `(.+)`\n\n(.*)$/gm)];
    expect(hooks).to.have.lengthOf.above(200);
    const silent = hooks.filter(([, , text = '']) =>
      /^(?:Filter|Action), since [\d.]*\d(?:; [^.]*)?\. Run by /.test(text),
    );
    expect(silent.map(([, name]) => name)).to.deep.equal([]);
  });

  it('mark the filters that run synchronously, and only those: their callbacks must not be async', () => {
    const folders = ['host', 'plugins/svc', 'plugins/orders'];
    const filters = listHooks(folders).filter(({ kind }) => kind === 'filter');
    const runs = findHookRuns(folders, new Set(filters.map(({ name }) => name)));
    const modesOf = (name: string) => new Set(runs.filter(({ hook }) => hook === name).map(({ mode }) => mode));
    expect(runs).to.have.lengthOf.above(100);
    const wrong = filters.filter(({ name, isSynchronous }) =>
      isSynchronous ? modesOf(name).has('awaits') : modesOf(name).has('synchronous'),
    );
    expect(wrong.map(({ name }) => name)).to.deep.equal([]);
    expect(filters.filter(({ isSynchronous }) => isSynchronous).length).to.equal(16);
  });

  it('name each argument of a hook', () => {
    expect(read('host/plugin-api/HOOKS.md'))
      .to.include("addFilter('map_meta_cap', (required, capability, userId, args) => required);")
      .and.not.include('=> ...');
  });

  it('are not current where the table lacks an error code', async () => {
    const file = 'plugins/svc/README.md';
    const text = read(file).replace(/^.*`rest_svc_bot_not_found`.*\n/m, '');
    expect(text).not.to.include('`rest_svc_bot_not_found`');
    const filled = await fillSections(text, sections[file] ?? {});
    expect(filled).not.to.equal(text);
    expect(filled).to.include('`rest_svc_bot_not_found`');
  });

  it('are not current where a folder imports another one', () => {
    const folders = [
      { path: 'host/hooks/', label: 'hooks' },
      { path: 'host/log/', label: 'log' },
    ];
    expect(renderDiagram(folders, [])).not.to.include('-->');
    expect(renderDiagram(folders, [{ from: 'host/hooks/hooks.ts', to: 'host/log/log.ts' }])).to.include(
      'host_hooks --> host_log',
    );
  });
});

describe('the collected error codes', () => {
  const program = createErrorProgram(['host', 'plugins/svc']);
  const collected = [collectErrorCodes(program, 'host/'), collectErrorCodes(program, 'plugins/svc/')];
  const known = collected.flatMap(({ responses, details }) => [...responses, ...details].map(({ code }) => code));

  /** Texts that begin like a code and are none: options, parameters, a module's name, prefixes, events of the log, and codes that are only stored. */
  const others = [
    'rest_allowed_origins',
    'rest_api',
    'rest_error',
    'rest_request_failed',
    'rest_request_unavailable',
    'rest_requests_per_minute',
    'rest_route',
    'rest_svc_',
    'rest_svc_form_abandoned',
  ];

  it('hold every code that the sources name', () => {
    const named = literalCodes(program, ['host/', 'plugins/svc/']);
    expect(named.filter((code) => ![...known, ...others, ...shownFilters].includes(code))).to.deep.equal([]);
  });

  it('have a message and a status from 400 to 599', () => {
    const incomplete = collected.flatMap(({ responses }: ErrorCodes) =>
      responses.filter(
        ({ statuses, messages }) =>
          messages.length === 0 || statuses.length === 0 || statuses.some((status) => status < 400 || status > 599),
      ),
    );
    expect(incomplete).to.deep.equal([]);
  });
});
