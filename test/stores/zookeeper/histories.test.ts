import { legalHistory } from '../../methods/histories/legal.ts';
import { sufferingZookeeper } from '../../methods/histories/suffering.ts';

legalHistory(sufferingZookeeper, { seed: 1 });
