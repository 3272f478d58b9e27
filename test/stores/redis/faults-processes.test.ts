import { faultsOfProcesses } from '../../methods/faults/of-processes.ts';
import { Bed } from './bed.ts';

faultsOfProcesses(() => new Bed());
