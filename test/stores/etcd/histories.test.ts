import { legalHistory } from '../../methods/histories/legal.ts';
import { sufferingEtcd } from '../../methods/histories/suffering.ts';

legalHistory(sufferingEtcd, { seed: 1 });
