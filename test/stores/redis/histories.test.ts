/** The server crashes without its data. */
import { legalHistory } from '../../methods/histories/legal.ts';
import { sufferingRedis } from '../../methods/histories/suffering.ts';

for (const seed of [1, 2]) legalHistory(sufferingRedis, { seed });
