import type * as events from 'node:events';
import type * as http from 'node:http';
import type * as net from 'node:net';
import type * as stream from 'node:stream';

/** What it does itself must work while a plugin has replaced it. */
const { apply, defineProperty, deleteProperty, getOwnPropertyDescriptor, getPrototypeOf, has, ownKeys } = Reflect;

const { has: isKnown } = Set.prototype;

/** What every part of a process shares, by the name in a sentence. Object.prototype is first: all others inherit from it. */
const language: Readonly<Record<string, object>> = {
  'Object.prototype': Object.prototype,
  '': globalThis,
  ...{ JSON, Math, Reflect, Object, Array, Promise, Map, Set, Date, Buffer, console },
  ...Object.fromEntries(
    [Array, Function, String, Number, Promise, Map, Set, WeakMap, Date, RegExp, Error, Uint8Array, Buffer].map(
      (constructor) => [`${constructor.name}.prototype`, constructor.prototype as object],
    ),
  ),
};

/** The prototypes of Node that every response goes through. Asked for at the first plugin: Node loads them then. */
function nodePrototypes(): Readonly<Record<string, object>> {
  const { IncomingMessage, OutgoingMessage, Server, ServerResponse } = builtIn<typeof http>('http');
  const { Server: Listener, Socket } = builtIn<typeof net>('net');
  const { Duplex, Readable, Transform, Writable } = builtIn<typeof stream>('stream');
  const { EventEmitter } = builtIn<typeof events>('events');
  const groups = {
    http: { ServerResponse, OutgoingMessage, IncomingMessage, Server },
    net: { Socket, Server: Listener },
    stream: { Readable, Writable, Duplex, Transform },
    events: { EventEmitter },
  };
  return Object.fromEntries(
    Object.entries(groups).flatMap(([module, constructors]) =>
      Object.entries(constructors).map(([name, constructor]) => [
        `${module}.${name}.prototype`,
        constructor.prototype as object,
      ]),
    ),
  );
}

const builtIn = <Module>(name: string): Module => process.getBuiltinModule(`node:${name}`) as Module;

/** What prints for the whole process. Their methods are those of a prototype, until a plugin puts its own on top. */
const streams = { 'process.stdout': process.stdout, 'process.stderr': process.stderr };

interface Holder {
  readonly name: string;
  readonly holder: object;
  readonly isPrototype: boolean;
  readonly keys: ReadonlySet<PropertyKey>;
  readonly members: readonly { readonly key: PropertyKey; readonly descriptor: PropertyDescriptor }[];
}

function note(name: string, holder: object): Holder {
  const isPrototype = name.endsWith('prototype');
  const keys = ownKeys(holder);
  const members = keys.flatMap((key) => {
    const descriptor = getOwnPropertyDescriptor(holder, key);
    // Getters of Node load a global at its first use, and replace themselves.
    const isShared = typeof descriptor?.value === 'function' || (isPrototype && descriptor?.get !== undefined);
    return descriptor && isShared ? [{ key, descriptor }] : [];
  });
  return { name, holder, isPrototype, keys: new Set(keys), members };
}

export interface Replaced {
  /** Names of what is restored. */
  readonly restored: readonly string[];
  /** Names of what cannot be restored, because the plugin has locked it. */
  readonly locked: readonly string[];
}

/** Notes the functions of the language and of Node. The returned function restores those replaced since, and names them. */
export function noteGlobals(): () => Replaced {
  const before = Object.entries({ ...language, ...nodePrototypes() }).map(([name, holder]) => note(name, holder));
  const printing = Object.entries(streams).map(([name, stream]) => ({ name, stream, write: stream.write }));
  return () => {
    const restored: string[] = [];
    const locked: string[] = [];
    const add = (done: boolean, { name }: Pick<Holder, 'name'>, key: PropertyKey): void => {
      const list = done ? restored : locked;
      list[list.length] = name === '' ? String(key) : `${name}.${String(key)}`;
    };
    // Without iterators and methods of arrays, which may be what was replaced.
    for (let index = 0; index < before.length; index += 1) restoreHolder(before[index] as Holder, add);
    for (let index = 0; index < printing.length; index += 1) {
      const { name, stream, write } = printing[index] as (typeof printing)[number];
      if (stream.write === write) continue;
      stream.write = write;
      add(true, { name }, 'write');
    }
    return { restored, locked };
  };
}

function restoreHolder(each: Holder, add: (done: boolean, holder: Holder, key: PropertyKey) => void): void {
  const { holder, isPrototype, keys, members } = each;
  const now = isPrototype ? ownKeys(holder) : [];
  for (let index = 0; index < now.length; index += 1) {
    const key = now[index] as PropertyKey;
    const parent = getPrototypeOf(holder);
    // Hides what it inherits, or is inherited by everything. Other additions, such as those for old runtimes, change nothing.
    if (!apply(isKnown, keys, [key]) && (parent === null || has(parent, key)))
      add(deleteProperty(holder, key), each, key);
  }
  for (let index = 0; index < members.length; index += 1) {
    const { key, descriptor } = members[index] as Holder['members'][number];
    const found = getOwnPropertyDescriptor(holder, key);
    if (found && found.value === descriptor.value && found.get === descriptor.get && found.set === descriptor.set)
      continue;
    add(defineProperty(holder, key, descriptor), each, key);
  }
}
