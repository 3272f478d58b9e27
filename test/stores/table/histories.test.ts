import { sufferingTable } from '../../methods/histories/suffering.ts';
import { documentHistory } from '../document/histories.ts';

documentHistory(sufferingTable, { seed: 1 });
