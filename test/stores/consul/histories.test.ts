import { legalHistory } from '../../methods/histories/legal.ts';
import { sufferingConsul } from '../../methods/histories/suffering.ts';
import { missing } from '../../servers/programs.ts';

legalHistory(sufferingConsul, { seed: 4, why: await missing('consul') });
