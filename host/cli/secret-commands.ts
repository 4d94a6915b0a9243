import type { CliCommand } from '#plugin-api';
import type { Core } from '../core.ts';
import { createRotation } from '../secrets/rotation.ts';

/** `secrets rotate`. */
export function secretCommands(core: Core): CliCommand[] {
  return [
    {
      name: 'secrets rotate',
      description: 'Encrypts every saved secret again under a new key. Running nodes keep working.',
      flags: {
        'keep-previous': {
          type: 'boolean',
          description: 'Leaves the previous key in the key file. Run the command again to finish.',
        },
      },
      async run({ flags }) {
        const rotation = createRotation(core);
        const isNew = await rotation.begin();
        const rewritten = await rotation.rewrite();
        await rotation.retire();
        const left = await rotation.leftOver();
        const keeps = flags['keep-previous'] === true || left.length > 0;
        if (!keeps) await rotation.drop();
        await core.hooks.doActionAsync('security_event', {
          event: 'secret_key_rotated',
          details: { rewritten, finished: !keeps },
        });
        return {
          rewritten,
          continued: !isNew,
          finished: !keeps,
          next: describeNext({ left, keeps, inEnvironment: core.config.secretKey !== null }),
        };
      },
    },
  ];
}

/** What the operator does next. */
function describeNext({
  left,
  keeps,
  inEnvironment,
}: {
  readonly left: readonly string[];
  readonly keeps: boolean;
  readonly inEnvironment: boolean;
}): string {
  if (left.length > 0)
    return (
      `These options hold secrets that only the previous key can read: ${left.join(', ')}. Activate the plugin that they belong ` +
      'to, or delete them, and run the command again. The previous key is still needed.'
    );
  if (keeps)
    return 'Both keys are accepted. When every node has the new one, run the command again to drop the previous one.';
  return (
    (inEnvironment ? 'Remove SECRET_KEY_PREVIOUS from the environment of every node. ' : '') +
    'Back up the database and the new key now. Backups from before need the previous key.'
  );
}
