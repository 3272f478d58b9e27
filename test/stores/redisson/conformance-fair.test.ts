import { suite } from './suite.ts';

await suite('fair', ['downgrade']);
