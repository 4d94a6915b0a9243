import { expect } from 'chai';
import type { PluginSource } from '../../host/loader/manifest.ts';
import { orderPlugins } from '../../host/loader/order.ts';

function installed(plugins: Readonly<Record<string, Readonly<Record<string, string>>>>): Map<string, PluginSource> {
  const source = (slug: string, requires: Readonly<Record<string, string>>): PluginSource => ({
    manifest: { slug, name: slug, version: '1.2.0', description: '', main: 'index.js', host: '^1', requires },
    directory: `/plugins/${slug}`,
    entry: `/plugins/${slug}/index.js`,
  });
  return new Map(Object.entries(plugins).map(([slug, requires]) => [slug, source(slug, requires)]));
}

describe('order of plugins', () => {
  const slugs = (wanted: readonly string[], plugins: Map<string, PluginSource>): string[] =>
    orderPlugins(wanted, plugins).ordered.map(({ manifest }) => manifest.slug);

  it('puts each after all it requires and keeps the order otherwise', () => {
    const plugins = installed({ a: { c: '^1' }, b: {}, c: { d: '*' }, d: {} });
    expect(slugs(['a', 'b', 'c', 'd'], plugins)).to.deep.equal(['d', 'c', 'a', 'b']);
    expect(slugs(['b', 'd'], plugins)).to.deep.equal(['b', 'd']);
  });

  it('leaves out what requires something that is missing, inactive or of another version, and says so', () => {
    const plugins = installed({ a: { gone: '^1' }, b: { off: '^1' }, c: { off: '^2' }, d: { a: '^1' }, off: {} });
    const { ordered, blocked } = orderPlugins(['a', 'b', 'c', 'd'], plugins);
    expect(ordered).to.deep.equal([]);
    expect(Object.fromEntries(blocked)).to.deep.equal({
      a: "It requires 'gone' ^1, which is not installed.",
      b: "It requires 'off', which is not active; activate 'off' first.",
      c: "It requires 'off' ^2, but version 1.2.0 is installed.",
      d: "It requires 'a', which cannot start: It requires 'gone' ^1, which is not installed.",
    });
  });

  it('takes a pre-release for a version of its range, and not for one above it', () => {
    const plugins = installed({ shop: { base: '^1' }, next: { base: '^2' }, base: {} });
    const base = plugins.get('base') as PluginSource;
    plugins.set('base', { ...base, manifest: { ...base.manifest, version: '1.3.0-beta.2' } });
    const { ordered, blocked } = orderPlugins(['shop', 'next', 'base'], plugins);
    expect(ordered.map(({ manifest }) => manifest.slug)).to.deep.equal(['base', 'shop']);
    expect([...blocked.keys()]).to.deep.equal(['next']);
  });

  it('names a circle of plugins of which none is active yet', () => {
    const { blocked } = orderPlugins(['a'], installed({ a: { b: '*' }, b: { c: '*' }, c: { b: '*', a: '*' } }));
    expect(blocked.get('a')).to.equal(
      'Plugins require each other in a cycle: b -> c -> b. Remove one of these requirements.',
    );
    expect(orderPlugins(['a'], installed({ a: { b: '*' }, b: { a: '*' } })).blocked.get('a')).to.match(
      /in a cycle: b -> a -> b/,
    );
  });

  it('names a circle and still starts the others', () => {
    const plugins = installed({
      a: { b: '*' },
      b: { c: '*' },
      c: { a: '*' },
      user: { a: '*' },
      free: {},
      self: { self: '*' },
    });
    const { ordered, blocked } = orderPlugins(['user', 'a', 'b', 'c', 'free', 'self'], plugins);
    expect(ordered.map(({ manifest }) => manifest.slug)).to.deep.equal(['free']);
    for (const slug of ['a', 'b', 'c']) expect(blocked.get(slug)).to.match(/in a cycle: a -> b -> c -> a/);
    expect(blocked.get('user')).to.match(/requires 'a', which cannot start: .*cycle/);
    expect(blocked.get('self')).to.match(/cycle: self -> self/);
  });
});
