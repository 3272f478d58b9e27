import { afterAll } from 'vitest';
import { faultsOfProcesses } from '../../methods/faults/of-processes.ts';
import { startMariadb } from '../../servers/mariadb-server.ts';
import { Bed } from './fault-bed.ts';

const server = await startMariadb();
afterAll(() => server.close());

faultsOfProcesses(() => new Bed(server));
