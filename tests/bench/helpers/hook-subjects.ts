import { createHooks as createWordPressHooks } from '@wordpress/hooks';
import { HookMap, SyncWaterfallHook } from 'tapable';
import { createHooks } from '../../../host/hooks/hooks.ts';

/** Makes `times` calls and answers the last value, so that nothing can be optimised away. */
export type Subject = (times: number) => number;

type Step = (value: number) => number;

/** Of one number of callbacks, on as many hooks as a page asks, each called from a place of its own. */
export interface Subjects {
  readonly ours: Subject;
  readonly loop: Subject;
  readonly wordpress: Subject;
  /** tapable's hooks looked up by name, as ours are. */
  readonly tapableByName: Subject;
  /** tapable's hooks as its users hold them: each in a variable at the place that calls it. */
  readonly tapableHeld: Subject;
}

const names = [
  'the_title',
  'the_content',
  'option_blogname',
  'pre_option_home',
  'rest_pre_dispatch',
  'user_has_cap',
  'svc_providers',
  'svc_text_request',
];

/** One of each for all subjects, as a process has one: what is known of one hook's calls does not fit the next one's. */
const hooks = createHooks({ guardsFilters: true });
const wordpress = createWordPressHooks();
const tapable = new HookMap<SyncWaterfallHook<[number]>>(() => new SyncWaterfallHook(['value']));
const runSteps = (steps: readonly Step[], start: number): number => {
  let value = start;
  for (const step of steps) value = step(value);
  return value;
};

export function subjectsOf(count: number): Subjects {
  // As a name in source code is, so that none is found the slower for having been put together.
  const own = names.map((name) => Object.keys({ [`${name}_${String(count)}`]: 0 })[0] as string);
  const lists = own.map((name, hook) => Array.from({ length: count }, (_, index) => addStep(name, hook * 10 + index)));
  const quoted = own.map((name) => JSON.stringify(name));
  return {
    ours: calls(
      quoted.map((name) => `hooks.applyFilters(${name}, value)`),
      { hooks },
    ),
    loop: calls(
      own.map((_, hook) => `runSteps(lists[${String(hook)}], value)`),
      { runSteps, lists },
    ),
    wordpress: calls(
      quoted.map((name) => `wordpress.applyFilters(${name}, value)`),
      { wordpress },
    ),
    tapableByName: calls(
      quoted.map((name) => `tapable.for(${name}).call(value)`),
      { tapable },
    ),
    tapableHeld: calls(
      own.map((name) => `${name}.call(value)`),
      Object.fromEntries(own.map((name) => [name, tapable.for(name)])),
    ),
  };
}

/** Further ways through our hooks. */
export function otherSubjects(): { readonly threeArguments: Subject; readonly action: Subject } {
  const steps = Array.from({ length: 10 }, (_, index) => distinctStep(index));
  for (const step of steps) hooks.addFilter('bench_three', step);
  for (const step of steps) hooks.addAction('bench_action', step);
  return {
    threeArguments: calls([`hooks.applyFilters('bench_three', value, call, times)`], { hooks }),
    action: calls([`(hooks.doAction('bench_action', call), call)`], { hooks }),
  };
}

function addStep(name: string, index: number): Step {
  const step = distinctStep(index);
  hooks.addFilter(name, step);
  wordpress.addFilter(name, `bench/step-${String(index)}`, step);
  tapable.for(name).tap(`step ${String(index)}`, step);
  return step;
}

/** A function with code of its own, as callbacks of different plugins have: one closure made ten times would be inlined. */
function distinctStep(index: number): Step {
  return new Function('value', `return value + ${String(index + 1)};`) as Step;
}

let made = 0;

/** A loop over the calls, written out, for in life each stands in a function of its own and is not handed its hook. The name keeps the engine from taking two for one. */
function calls(expressions: readonly string[], known: Readonly<Record<string, unknown>>): Subject {
  made += 1;
  const body = expressions.map((expression) => `value = ${expression} & 1023;`).join(' ');
  const code = `return function subject${String(made)}(times) { let value = 0; for (let call = 0; call < times; call += ${String(expressions.length)}) { ${body} } return value; };`;
  return (new Function(...Object.keys(known), code) as (...values: unknown[]) => Subject)(...Object.values(known));
}
