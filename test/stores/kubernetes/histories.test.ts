import { sufferingKubernetes } from '../../methods/histories/suffering.ts';
import { missingKubernetes } from '../../servers/kubernetes-server.ts';
import { documentHistory } from '../document/histories.ts';

documentHistory(sufferingKubernetes, { seed: 3, why: await missingKubernetes() });
