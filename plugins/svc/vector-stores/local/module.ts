import { defineModule, type ModulePorts } from '../../kit/module.ts';
import { localMigrations, tables } from './tables.ts';

/** The tables of the store `local`. */
export const localStoreModule = defineModule<ModulePorts>({
  migrations: localMigrations,
  tables: Object.values(tables),
});
