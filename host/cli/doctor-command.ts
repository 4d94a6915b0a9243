import type { CliCommand } from '#plugin-api';

/** Resolves with what was found, or rejects with an Error whose sentence says what to do. */
export type DoctorCheck = () => Promise<string>;

/** `doctor`: runs every check and fails when one does. */
export function doctorCommand(checks: Readonly<Record<string, DoctorCheck>>): CliCommand {
  return {
    name: 'doctor',
    description: 'Checks this installation: settings, database, secrets, plugins',
    async run() {
      const rows = await Promise.all(
        Object.entries(checks).map(async ([name, check]) => {
          try {
            return { check: name, result: 'ok', detail: await check() };
          } catch (error) {
            return { check: name, result: 'failed', detail: error instanceof Error ? error.message : String(error) };
          }
        }),
      );
      const failed = rows.filter(({ result }) => result === 'failed');
      if (failed.length > 0) throw new Error(failed.map(({ check, detail }) => `${check}: ${detail}`).join('\n'));
      return rows;
    },
  };
}
