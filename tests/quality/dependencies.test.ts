import { expect } from 'chai';
import { findAdvisories, findCompiled, findUnreviewed, readLock, reviewedInstallScripts } from './dependencies.ts';

describe('dependencies', () => {
  it('are installed without a compiler', async () => {
    expect(findCompiled(await readLock())).to.deep.equal([]);
    const seeded = { 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { version: '2.0.0', gypfile: false } };
    expect(findCompiled(seeded, () => true)).to.have.length(1);
  });

  it('leave out of production what nothing loads there', async () => {
    const lock = await readLock();
    const names = Object.keys(lock).filter((path) => lock[path]?.dev !== true);
    expect(names).to.include('node_modules/chromadb').and.include('node_modules/@qdrant/js-client-rest');
    expect(names).not.to.include('node_modules/typescript');
    const bindings = names.filter((path) => path.includes('/chromadb-js-bindings-'));
    expect([...new Set(bindings.map((path) => lock[path]?.name))]).to.deep.equal(['ms']);
  });

  it('run no unreviewed code at installation, and are fixed by hashes', async () => {
    const lock = await readLock();
    expect(Object.keys(lock).length).to.be.greaterThan(100);
    expect(findUnreviewed(lock)).to.deep.equal([]);
  });

  it('list no review of a package that is gone', async () => {
    const names = Object.keys(await readLock()).map((path) => path.replace(/^.*node_modules\//, ''));
    expect(Object.keys(reviewedInstallScripts).filter((name) => !names.includes(name))).to.deep.equal([]);
  });

  it('are refused when a script, an update of one, a missing hash or a git source is not reviewed', () => {
    const integrity = 'sha512-x';
    const reviewed = { known: { version: '1.0.0', does: 'Nothing.' } };
    const lock = {
      '': {},
      'node_modules/known': { version: '1.0.0', integrity, hasInstallScript: true },
      'node_modules/a/node_modules/known': { version: '2.0.0', integrity, hasInstallScript: true },
      'node_modules/@scope/new': { version: '1.0.0', integrity, hasInstallScript: true },
      'node_modules/loose': { version: '1.0.0' },
      'node_modules/forked': { version: '1.0.0', integrity, resolved: 'git+ssh://git@example.com/forked.git' },
    };
    expect(findUnreviewed(lock, reviewed)).to.deep.equal([
      'known 2.0.0 runs a script when it is installed. Review it and list it here.',
      '@scope/new 1.0.0 runs a script when it is installed. Review it and list it here.',
      'loose 1.0.0 has no integrity hash.',
      'forked 1.0.0 does not come from a registry.',
    ]);
  });

  it('are refused for advisories that were not reviewed', () => {
    const advisory = { source: 1_096_571, title: 'Denial of service', url: 'https://github.com/advisories/GHSA-x' };
    const report = { vulnerabilities: { qs: { via: [advisory, 'express'] } } };
    expect(findAdvisories(report)).to.deep.equal(['qs: Denial of service (https://github.com/advisories/GHSA-x)']);
    expect(findAdvisories(report, { 1_096_571: 'Not reached.' })).to.deep.equal([]);
    expect(() => findAdvisories({ message: '405 Method Not Allowed' })).to.throw('405 Method Not Allowed');
  });
});
