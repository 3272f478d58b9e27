/** The server crashes with all its data, or without the last of them. */
import { legalHistory } from '../../methods/histories/legal.ts';
import { sufferingPostgres } from '../../methods/histories/suffering.ts';

legalHistory(() => sufferingPostgres('strict'), { seed: 1 });
legalHistory(() => sufferingPostgres('fast'), { seed: 2 });
