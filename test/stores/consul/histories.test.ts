import { sufferingConsul } from '../../methods/histories/suffering.ts';
import { missing } from '../../servers/programs.ts';
import { documentHistory } from '../document/histories.ts';

documentHistory(sufferingConsul, { seed: 4, why: await missing('consul') });
