/** A process that takes a lock and holds it until it is killed. */
import { connect } from 'holdfast/connect';
import { workerOptions } from '../processes.ts';
import type { HolderOptions } from './dead-holder.ts';

const { url, resource, ttlMs } = workerOptions<HolderOptions>();
const locks = await connect(url, { ttl: ttlMs });
await locks.mutex(resource).acquire();
// Nobody is left who would end it if the figure fails.
process.once('disconnect', () => process.exit());
process.send?.('held');
