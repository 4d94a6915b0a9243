/** The files of a plugin in plain JavaScript that uses every part of the host which can be registered with. */
export function registersEverything({
  more = '',
}: { /** Code that runs at each `register`. */ readonly more?: string | undefined } = {}): Readonly<
  Record<string, string>
> {
  return {
    'index.js': `
import { ticks } from './ticks.js';
export default {
  register(host) {
    host.hooks.addFilter('sample_price', (price) => price + 1);
    host.hooks.addAction('sample_sold', () => {}, 20, { acceptedArgs: 1 });
    host.hooks.addAction('sample_hourly', () => ticks(host));
    host.api.withNamespaces(host.hooks).addFilter('sample_price', 'sample/tax', (price) => price * 2);
    host.options.registerSetting('sample_setting', { group: 'sample', schema: { type: 'integer', default: 7 }, showInRest: true });
    host.rest.registerRoute('sample/v1', '/greet/{name}', { args: { name: { type: 'string', minLength: 2 } }, handler: ({ params }) => ({ hello: params.name }) });
    host.cron.addSchedule('sample-often', 60, 'Often');
    host.admin.addPage({ slug: 'sample', title: 'Sample', menu: 'Sample', render: async () => ({ template: 'sample/page' }) });
    host.admin.addBadge(async () => null);
    host.admin.addSetupChoice({ id: 'sample', label: 'Sample', description: 'Sample', choose: async () => ({ redirect: '/' }) });
    host.cli.addCommand({ name: 'sample', description: 'Says hello', run: async () => 'hello' });
    host.views.addHelper('sampleHelper', () => '');
    host.content.registerPostType('sample', { label: 'Samples', singularLabel: 'Sample', public: true, showInRest: true });
    host.content.registerMeta('sample', 'sample_key', { schema: { type: 'string' }, showInRest: true });
    host.content.registerTaxonomy('sample_kind', { label: 'Kinds', singularLabel: 'Kind', types: ['sample'], showInRest: true });
    host.content.registerRestField(['sample', 'sample_kind'], 'sample_field', { get: () => 1, schema: { type: 'integer' } });
    host.content.registerSearchHandler('sample', { subtypes: () => [], find: async () => ({ results: [], total: 0 }) });
    host.content.addShortcode('sample', () => 'sample');
    host.clock.every(1000, () => ticks(host));
    host.clock.after(1000, () => ticks(host));
    host.onStop(() => ticks(host));
    ${more}
  },
  async activate(host) {
    await host.cron.schedule('sample-often', 'sample_hourly');
    await host.cron.scheduleSingle(host.clock.now() + 3_600_000, 'sample_sold', [1]);
  },
  async deactivate(host) {
    await host.cron.unschedule('sample_hourly');
    await host.cron.unschedule('sample_sold');
  },
};`,
    'ticks.js': 'export function ticks(host) { return host.clock.now(); }',
    'views/page.hbs': '<p>Sample</p>',
    'assets/sample.txt': 'sample',
  };
}
