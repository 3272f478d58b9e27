/** For authors of stores: the contract, the queue with the rule of admission, and failures. */
export * from './contract/index.ts';
export * from './queue/index.ts';
