import type { CliCommand } from '#plugin-api';
import type { ServiceContext } from '../../context.ts';

export function contentCommands(_context: ServiceContext): CliCommand[] {
  return [];
}
