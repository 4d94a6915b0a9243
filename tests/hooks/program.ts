/** One operation of a hook program, as the recording writes it: `['add', hook, callback, priority, acceptedArgs]`, ... */
export type Operation = readonly [name: string, ...operands: unknown[]];

/** A program over hooks: callbacks run their own operations, a list for each of their calls. */
export interface HookProgram {
  readonly body: Readonly<Record<string, readonly (readonly Operation[])[]>>;
  readonly top: readonly Operation[];
}

export interface RecordedProgram extends HookProgram {
  readonly id: number;
  readonly trace: readonly unknown[];
}

export type TracedCallback = (...args: unknown[]) => unknown;

export interface Addition {
  readonly kind: 'filter' | 'action';
  readonly hook: string;
  readonly callback: TracedCallback;
  readonly priority: number;
  readonly acceptedArgs: number;
}

/** What a program needs of an implementation of hooks, synchronous or not. */
export interface HookEngine {
  add(addition: Addition): void;
  remove(hook: string, callback: TracedCallback, priority: number): boolean;
  removeAll(hook: string, priority: number | false): void;
  apply(hook: string, value: unknown, ...args: unknown[]): unknown;
  do(hook: string, ...args: unknown[]): unknown;
  has(hook: string, callback: TracedCallback | undefined, priority: number | undefined): boolean | number;
  did(hook: string): readonly [actions: number, filters: number];
  current(): string | false;
  doing(hook?: string): boolean;
  priority(hook: string): number | false;
}

const maxDepth = 4;
const maxCalls = 400;

/**
 * Runs a program and answers its trace. With an engine whose `apply` and `do` answer promises it is awaited in order,
 * so that the same program can drive synchronous and asynchronous runs.
 */
export async function runProgram(program: HookProgram, engine: HookEngine): Promise<unknown[]> {
  const run = createRun(program, engine);
  for (const operation of program.top) {
    const pending = run.operate(operation);
    if (pending instanceof Promise) await pending;
  }
  return run.trace;
}

/** Like runProgram, for engines that never answer promises. */
export function runProgramSync(program: HookProgram, engine: HookEngine): unknown[] {
  const run = createRun(program, engine);
  for (const operation of program.top) run.operate(operation);
  return run.trace;
}

function createRun(
  program: HookProgram,
  engine: HookEngine,
): { trace: unknown[]; operate(operation: Operation): unknown } {
  const trace: unknown[] = [];
  const calls = new Map<string, number>();
  const callbacks = new Map<string, TracedCallback>();
  let depth = 0;
  let total = 0;

  const callbackNamed = (name: string): TracedCallback => {
    let callback = callbacks.get(name);
    if (!callback) callbacks.set(name, (callback = makeCallback(name)));
    return callback;
  };
  const makeCallback =
    (name: string): TracedCallback =>
    (...args) => {
      total += 1;
      trace.push(['call', name, args, engine.current()]);
      const index = calls.get(name) ?? 0;
      calls.set(name, index + 1);
      const answer =
        args.length === 0
          ? `_${name}`
          : typeof args[0] === 'string' || typeof args[0] === 'number'
            ? `${args[0]}${name}`
            : `?${name}`;
      if (depth >= maxDepth || total >= maxCalls) return answer;
      depth += 1;
      const pending = inOrder(program.body[name]?.[index] ?? [], operate);
      if (pending instanceof Promise) return pending.then(() => ((depth -= 1), answer));
      depth -= 1;
      return answer;
    };
  const operate = (operation: Operation): unknown => {
    const [name, hook, ...operands] = operation as [string, string, ...unknown[]];
    const callback = typeof operands[0] === 'string' ? callbackNamed(operands[0]) : undefined;
    switch (name) {
      case 'add':
        return engine.add({
          kind: hook === 'act' ? 'action' : 'filter',
          hook,
          callback: callback!,
          priority: operands[1] as number,
          acceptedArgs: operands[2] as number,
        });
      case 'remove':
        return void trace.push(['remove', engine.remove(hook, callback!, operands[1] as number)]);
      case 'removeAll':
        return engine.removeAll(hook, operands[0] as number | false);
      case 'has':
        return void trace.push(['has', engine.has(hook, callback, (operands[1] as number | null) ?? undefined)]);
      case 'did':
        return void trace.push(['did', ...engine.did(hook)]);
      case 'state':
        return void trace.push(['state', engine.current(), engine.doing(hook), engine.doing()]);
      case 'prio':
        return void trace.push(['prio', engine.priority(hook)]);
      case 'apply':
        trace.push(['apply>', hook]);
        return then(engine.apply(hook, ...(operands as [unknown])), (value) => trace.push(['apply<', hook, value]));
      case 'do':
        trace.push(['do>', hook]);
        return then(engine.do(hook, ...operands), () => trace.push(['do<', hook]));
      default:
        throw new Error(`A hook program holds the unknown operation '${name}'.`);
    }
  };
  return { trace, operate };
}

function inOrder(operations: readonly Operation[], operate: (operation: Operation) => unknown, from = 0): unknown {
  for (let index = from; index < operations.length; index += 1) {
    const pending = operate(operations[index]!);
    if (pending instanceof Promise) return pending.then(() => inOrder(operations, operate, index + 1));
  }
  return undefined;
}

function then(result: unknown, use: (value: unknown) => unknown): unknown {
  return result instanceof Promise ? result.then(use) : void use(result);
}
