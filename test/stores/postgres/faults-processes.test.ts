import { afterAll } from 'vitest';
import { faultsOfProcesses } from '../../methods/faults/of-processes.ts';
import { startPostgres } from '../../servers/postgres-server.ts';
import { Bed } from './fault-bed.ts';

const server = await startPostgres();
afterAll(() => server.close());

faultsOfProcesses(() => new Bed(server));
