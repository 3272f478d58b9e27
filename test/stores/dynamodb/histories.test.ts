import { legalHistory } from '../../methods/histories/legal.ts';
import { sufferingDynamodb } from '../../methods/histories/suffering.ts';
import { missingDynamodb } from '../../servers/dynamodb-server.ts';

legalHistory(sufferingDynamodb, { seed: 5, why: await missingDynamodb() });
