import type { ServicesApi } from '#plugin-api';
import type { Owned } from './services.ts';

type Members = Record<PropertyKey, unknown>;
type Callable = (...args: unknown[]) => unknown;

/** The services that the plugins of this process provide for each other. */
export function createPluginServices(): Owned<ServicesApi> {
  const provided = new Map<string, object>();
  const formerOwners = new Map<string, string>();

  const find = (name: string): object => {
    const service = provided.get(name);
    if (service !== undefined) return service;
    const former = formerOwners.get(name);
    throw new Error(
      former === undefined
        ? `No active plugin provides the service '${name}'. Install and activate '${name.split('.')[0] ?? ''}', and name it ` +
            `under "requires" in your plugin.json, so that it starts first.`
        : `The service '${name}' is gone, because the plugin '${former}' is no longer active. Activate it again.`,
    );
  };
  const get = (name: string): unknown => {
    const service = find(name);
    return followProvider(typeof service === 'function', () => find(name));
  };

  return {
    forOwner: (owner): ServicesApi => ({
      provide(name: string, service: unknown) {
        checkService(name, service, owner);
        if (provided.has(name)) throw new Error(`The service '${name}' is already provided.`);
        provided.set(name, service);
        formerOwners.delete(name);
        return () => {
          if (provided.get(name) !== service) return;
          provided.delete(name);
          formerOwners.set(name, owner);
        };
      },
      get: get as ServicesApi['get'],
      has: (name) => provided.has(name),
    }),
  };
}

function checkService(name: string, service: unknown, owner: string): asserts service is object {
  if (name !== owner && !(name.startsWith(`${owner}.`) && /^[\w-]{1,100}$/.test(name.slice(owner.length + 1))))
    throw new Error(
      `'${name}' is no name of a service of this plugin. Use '${owner}', or '${owner}.' and a word of letters, digits, '_' and '-'.`,
    );
  if ((typeof service !== 'object' && typeof service !== 'function') || service === null)
    throw new Error(`The service '${name}' is neither an object with methods nor a function.`);
}

/** A view of a service that looks it up at each use, also of a method that was taken out of it before. */
function followProvider(isFunction: boolean, current: () => object): unknown {
  const methods = new Map<PropertyKey, Callable>();
  const methodOf = (key: PropertyKey): Callable => {
    const known = methods.get(key);
    if (known) return known;
    const method = (...args: unknown[]): unknown => {
      const service = current() as Members;
      return (service[key] as Callable).apply(service, args);
    };
    methods.set(key, method);
    return method;
  };
  const refuse = (): never => {
    throw new TypeError('Members of a service cannot be set from outside.');
  };
  return new Proxy<object>(isFunction ? () => undefined : {}, {
    apply: (_target, _self, args: unknown[]) => (current() as Callable)(...args),
    get(_target, key) {
      const value = (current() as Members)[key];
      return typeof value === 'function' ? methodOf(key) : value;
    },
    has: (_target, key) => Reflect.has(current(), key),
    ownKeys: () => Reflect.ownKeys(current()),
    getOwnPropertyDescriptor(_target, key) {
      const found = Reflect.getOwnPropertyDescriptor(current(), key);
      return found && { ...found, configurable: true };
    },
    getPrototypeOf: () => Reflect.getPrototypeOf(current()),
    set: refuse,
    defineProperty: refuse,
    deleteProperty: refuse,
    setPrototypeOf: refuse,
  });
}
