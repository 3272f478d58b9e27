import { sufferingDynamodb } from '../../methods/histories/suffering.ts';
import { missingDynamodb } from '../../servers/dynamodb-server.ts';
import { documentHistory } from '../document/histories.ts';

documentHistory(sufferingDynamodb, { seed: 5, why: await missingDynamodb() });
