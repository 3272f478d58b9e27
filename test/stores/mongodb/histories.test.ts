import { sufferingMongodb } from '../../methods/histories/suffering.ts';
import { documentHistory } from '../document/histories.ts';

documentHistory(sufferingMongodb, { seed: 2 });
