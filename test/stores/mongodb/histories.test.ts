import { legalHistory } from '../../methods/histories/legal.ts';
import { sufferingMongodb } from '../../methods/histories/suffering.ts';

legalHistory(sufferingMongodb, { seed: 2 });
