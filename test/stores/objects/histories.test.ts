import { legalHistory } from '../../methods/histories/legal.ts';
import { sufferingObjects } from '../../methods/histories/suffering.ts';
import { missing } from '../../servers/programs.ts';

legalHistory(sufferingObjects, { seed: 6, why: await missing('python') });
