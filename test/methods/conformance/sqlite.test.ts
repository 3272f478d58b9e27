import { sqliteSuite } from './sqlite.ts';

sqliteSuite((open) => open());
