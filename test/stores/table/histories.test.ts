import { legalHistory } from '../../methods/histories/legal.ts';
import { sufferingTable } from '../../methods/histories/suffering.ts';

legalHistory(sufferingTable, { seed: 1 });
