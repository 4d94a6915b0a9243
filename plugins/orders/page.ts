import {
  checkValue,
  formFields,
  isRecord,
  isUrl,
  readForm,
  type AdminRequest,
  type AdminView,
  type HostApi,
} from '#plugin-api';
import type { Orders } from './orders.ts';
import { readSettings, settingsName, settingsSchema, type Settings } from './settings.ts';

/** The latest orders, and a form that the schema of the settings describes. */
export function registerPage(host: HostApi, orders: Orders): void {
  const { __ } = host.i18n;
  const view = async (form: Parameters<typeof formFields>[1]): Promise<AdminView> => ({
    template: 'orders/orders',
    data: {
      count: await orders.count(),
      orders: (await orders.find({ limit: 10 })).map((order) => ({
        ...order,
        total: (order.total / 100).toFixed(2),
        stateLabel: order.state === 'sent' ? __('Sent') : __('Waiting'),
        stateKind: order.state === 'sent' ? 'success' : 'info',
      })),
      fields: formFields(settingsSchema, { id: 'orders', ...form }),
    },
  });
  host.admin.addPage({
    slug: 'orders',
    title: __('Orders'),
    menu: __('Orders'),
    icon: 'orders/icons.svg#parcel',
    async render() {
      const settings = await readSettings(host);
      return view({ values: shown(settings, settings.key) });
    },
    actions: {
      async save(request) {
        request.requireFreshSignIn();
        const saved = await readSettings(host);
        const values = enteredValues(request, saved);
        const { errors } = checkValue(settingsSchema, values, { subject: 'label' });
        if (Object.keys(errors).length > 0) return { page: await view({ values: shown(values, saved.key), errors }) };
        await host.options.update(settingsName, values);
        return { notice: { kind: 'success', text: __('Saved.') } };
      },
    },
  });
}

/** An empty field keeps the key, unless its checkbox "Remove" is checked or it would go to another host. */
function enteredValues({ form }: AdminRequest, saved: Settings): Record<string, unknown> {
  const { key: entered, ...values } = readForm(settingsSchema, form);
  const removed = isRecord(form) ? form['_remove'] : undefined;
  const isRemoved = Array.isArray(removed) && removed.includes('key');
  const isSameHost = originOf(values['address']) === originOf(saved.address);
  const key = isRemoved ? undefined : entered || (isSameHost ? saved.key : undefined);
  return { ...values, ...(key && { key }) };
}

function originOf(address: unknown): string {
  return typeof address === 'string' && isUrl(address) ? new URL(address).origin : '';
}

/** The key itself never reaches a template. */
function shown(values: object, key: string | undefined): Record<string, unknown> {
  return { ...values, key: { saved: Boolean(key), ending: key?.slice(-4) ?? '' } };
}
