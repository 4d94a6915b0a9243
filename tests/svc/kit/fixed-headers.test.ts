import { expect } from 'chai';
import { FixedHeaders } from '../../../plugins/svc/kit/fixed-headers.ts';

describe('Fixed headers', () => {
  const record = { 'x-b': ['1', '2'], 'content-type': 'text/plain', 'set-cookie': ['a=1', 'b=2'] };
  const fixed = new FixedHeaders(record);
  const real = new Headers();
  for (const [name, values] of Object.entries(record)) for (const value of [values].flat()) real.append(name, value);

  it('read as Headers do', () => {
    for (const name of ['X-B', 'content-TYPE', 'set-cookie', 'none', 'constructor'])
      expect([fixed.get(name), fixed.has(name)]).to.deep.equal([real.get(name), real.has(name)]);
    expect(fixed.getSetCookie()).to.deep.equal(['a=1', 'b=2']);
    expect(new FixedHeaders({ 'set-cookie': 'a=1' }).getSetCookie()).to.deep.equal(['a=1']);
    expect(new FixedHeaders({}).getSetCookie()).to.deep.equal([]);
  });

  it('are iterated as Headers are, in the same order', () => {
    expect([...fixed]).to.deep.equal([...real]);
    expect([...fixed.entries()]).to.deep.equal([...real.entries()]);
    expect([...fixed.keys()]).to.deep.equal([...real.keys()]);
    expect([...fixed.values()]).to.deep.equal([...real.values()]);
    const seen: string[] = [];
    fixed.forEach((value, name, headers) => seen.push(`${name}=${value} ${String(headers === fixed)}`));
    expect(seen).to.include('x-b=1, 2 true').and.to.have.length(4);
  });

  it('can be copied into Headers, a Response and a Request', () => {
    expect([...new Headers(fixed)]).to.deep.equal([...real]);
    expect(new Response('', { headers: fixed }).headers.getSetCookie()).to.deep.equal(['a=1', 'b=2']);
    expect(new Request('http://localhost/', { headers: fixed }).headers.get('x-b')).to.equal('1, 2');
  });

  it('cannot be changed', () => {
    for (const change of [() => fixed.set(), () => fixed.append(), () => fixed.delete()])
      expect(change).to.throw(TypeError, 'cannot be changed');
  });
});
