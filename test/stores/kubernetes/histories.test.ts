import { legalHistory } from '../../methods/histories/legal.ts';
import { sufferingKubernetes } from '../../methods/histories/suffering.ts';
import { missingKubernetes } from '../../servers/kubernetes-server.ts';

legalHistory(sufferingKubernetes, { seed: 3, why: await missingKubernetes() });
