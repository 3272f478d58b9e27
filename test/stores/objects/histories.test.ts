import { sufferingObjects } from '../../methods/histories/suffering.ts';
import { missing } from '../../servers/programs.ts';
import { documentHistory } from '../document/histories.ts';

documentHistory(sufferingObjects, { seed: 6, why: await missing('python') });
