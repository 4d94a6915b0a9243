import type { HooksApi } from '#plugin-api';

export type WarningHooks = Pick<HooksApi, 'doAction' | 'owners'>;

/**
 * Names what a filter returned that has no effect to the plugins that have callbacks on it, once per sentence: on the page of
 * the plugins and in the log. With several plugins it is unknown whose value it was, and all are named.
 *
 * @param sentence begins with a small letter: "the event 'a.b' is left out: ...".
 */
export function createOwnerWarnings(hooks: WarningHooks, filter: string): (sentence: string) => void {
  const reported = new Set<string>();
  return (sentence) => {
    const owners = hooks.owners(filter).filter((owner) => owner !== 'host' && owner !== 'svc');
    const key = `${owners.join()} ${sentence}`;
    if (reported.has(key)) return;
    reported.add(key);
    const others = owners.length > 1 ? ` (one of ${owners.map((owner) => `'${owner}'`).join(', ')} returned it)` : '';
    for (const owner of owners)
      hooks.doAction('plugin_warning', owner, `In the filter '${filter}', ${sentence}${others}`);
  };
}
