import { addSettingsPage, type HostApi } from '#plugin-api';

export type Settings = ReturnType<typeof registerSettings>;

/** A page with a form that the schema describes. `writeOnly` is stored encrypted and never shown. */
export function registerSettings(host: HostApi) {
  return addSettingsPage(host, {
    slug: 'orders/settings',
    parent: 'orders',
    title: 'Order settings',
    menu: 'Order settings',
    icon: 'gear',
    setting: 'orders_settings',
    schema: {
      type: 'object',
      default: {},
      properties: {
        address: {
          type: 'string',
          format: 'uri',
          title: 'Address of the warehouse',
          maxLength: 500,
          default: '',
          description: 'Orders are posted to it. Leave empty to send none.',
        },
        key: {
          type: 'string',
          title: 'Key of the warehouse',
          maxLength: 200,
          writeOnly: true,
          description: 'Sent with each order as a bearer token.',
        },
      },
    },
  });
}
