import { faultsOfProcesses } from '../../methods/faults/of-processes.ts';
import { Bed, sharedServer } from './fault-bed.ts';

const server = await sharedServer();

faultsOfProcesses(() => new Bed(server));
