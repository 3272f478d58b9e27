/** The server crashes with all its data, or without the last of them. */
import { legalHistory } from '../../methods/histories/legal.ts';
import { sufferingMariadb } from '../../methods/histories/suffering.ts';

legalHistory(() => sufferingMariadb('strict'), { seed: 1 });
legalHistory(() => sufferingMariadb('fast'), { seed: 2 });
