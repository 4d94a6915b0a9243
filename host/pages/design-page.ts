import { drawCharts, formatCount, listTabs, listView, readList, withNotice, type AdminPageBody } from '#plugin-api';

const colors = ['text', 'muted', 'accent', 'success', 'warning', 'danger', 'info'] as const;
const surfaces = ['background', 'surface', 'surface-raised', 'surface-sunken', 'accent-soft', 'success-soft'] as const;
const softs = ['warning-soft', 'danger-soft', 'info-soft'] as const;
const day = 86_400_000;

/** Every component of the admin with the name of its partial, for authors of pages. Only with LOG_LEVEL=debug. */
export function createDesignPage(icons: readonly string[]): AdminPageBody {
  return {
    render: async (request) => {
      const state = readList(request, { sortable: ['name', 'orders'], filters: { state: 'open' } });
      return {
        template: 'admin/pages/design',
        data: {
          icons,
          swatches: [...colors, ...surfaces, ...softs].map((name) => ({ name: `--${name}` })),
          tabs: listTabs({ filter: 'state', current: 'open', search: '' }, [
            { name: '', label: 'All', count: 45 },
            { name: 'open', label: 'Open', count: 44 },
          ]),
          list: listView(state, {
            columns: [
              { label: 'Name', key: 'name' },
              { label: 'Status' },
              { label: 'Orders', key: 'orders', isNumber: true },
            ],
            total: 45,
            text: formatCount(45, 'shop'),
            chips: { state: 'State: open' },
          }),
          rows: [
            { id: 'north', name: 'North', badge: { text: 'Open', kind: 'success' }, orders: 12_500 },
            { id: 'south', name: 'South', badge: { text: 'Closed', kind: 'error' }, orders: 7 },
          ],
          pictures: drawCharts({
            days: Array.from({ length: 14 }, (_, index) => ({
              day: new Date(Date.UTC(2026, 0, 1) + index * day).toISOString().slice(0, 10),
              value: (index * 7) % 11,
              failed: index % 5 === 4 ? 2 : 0,
            })),
            format: String,
            title: ({ day: date, value }) => `${date}: ${formatCount(value, 'order')}`,
            whole: true,
          }),
          text: 'One line.\nAnother line.',
          json: JSON.stringify({ orders: 12 }, null, 2),
          options: [
            { value: 'a', label: 'First' },
            { value: 'b', label: 'Second' },
          ],
        },
      };
    },
    actions: { try: async () => withNotice('success', 'Saved. Nothing was changed.') },
  };
}
