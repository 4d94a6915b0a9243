import { fillDefaults, type HostApi } from '#plugin-api';

export const settingsName = 'orders_settings';

/** `writeOnly` is stored encrypted and never shown. */
export const settingsSchema = {
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
} as const;

export interface Settings {
  readonly address: string;
  readonly key?: string;
}

export function registerSettings(host: HostApi): void {
  host.options.registerSetting(settingsName, { group: 'orders', label: 'Orders', schema: settingsSchema });
}

export async function readSettings({ options }: HostApi): Promise<Settings> {
  return fillDefaults(settingsSchema, await options.get(settingsName, {})) as unknown as Settings;
}
