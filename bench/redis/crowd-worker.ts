/** A process of tasks that all want the same lock of Redis. */
import { member } from '../contended/member.ts';
import { contender } from './contenders.ts';

await member((name) => contender(name).connect);
