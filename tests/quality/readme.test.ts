import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { secretVariables, variables } from '../../host/start/variables.ts';
import { brokenLinks, brokenPaths, listDocuments } from './links.ts';

const read = (file: string): string => readFileSync(file, 'utf8');

describe('the README', () => {
  it('has at most 120 lines', () => {
    expect(read('README.md').trimEnd().split('\n').length).to.be.at.most(120);
  });
});

describe('the README of the host', () => {
  it('names every variable that is read, and no other, each secret with its mark', () => {
    const source = read('host/start/config.ts');
    const inCode = [...source.matchAll(/(?:read|readWhole|oneOf)\('([A-Z_]+)'/g)].map(([, name]) => name);
    const [, section = ''] = /## Environment\n([\s\S]*?)\n##/.exec(read('host/README.md')) ?? [];
    const inTable = [...section.matchAll(/^\| (.+?) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([A-Z_0-9]+)`( †)?/g)].map(([, name, mark]) => ({ name, isSecret: mark !== undefined })),
    );
    expect(inTable.map(({ name }) => name).sort()).to.deep.equal([...new Set([...inCode, ...variables])].sort());
    expect(inTable.filter(({ isSecret }) => isSecret).map(({ name }) => name)).to.have.members([...secretVariables]);
  });

  it('explains every dependency, and no other', () => {
    const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<string, object>;
    const installed = Object.keys({ ...dependencies, ...devDependencies }).map((name) =>
      name.startsWith('@types/') ? '@types/*' : name,
    );
    const [, section = ''] = /## Dependencies\n([\s\S]*)/.exec(read('host/README.md')) ?? [];
    const explained = [...section.matchAll(/^\| (`.+?) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
    );
    expect(explained.sort()).to.deep.equal([...new Set(installed)].sort());
  });
});

describe('links and paths of documents', () => {
  for (const file of listDocuments()) {
    it(`lead to files and headings that exist (${file})`, () => {
      expect(brokenLinks(file)).to.deep.equal([]);
      expect(brokenPaths(read(file))).to.deep.equal([]);
    });
  }

  it('are found where the file, the heading or the path does not exist', () => {
    const text =
      '# A title\n\n[a](#a-title) [b](#b) [c](absent.md) [d](host/README.md#environment) [e](host/README.md#no)\n';
    expect(brokenLinks('README.md', text)).to.deep.equal(['#b', 'absent.md', 'host/README.md#no']);
    expect(
      brokenPaths('```mermaid\nflowchart\n  a[host/main.js] --> b["host/absent.ts<br>step"]\n```\n'),
    ).to.deep.equal(['host/absent.ts']);
  });
});
