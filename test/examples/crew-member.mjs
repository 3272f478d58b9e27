/** A process of the crew in crew.test.ts: it says that it is there, for as long as it is heard. */
process.on('message', () => {});
process.send?.('here');
