/** A process of tasks that all want the same lock of etcd. */
import { member } from '../contended/member.ts';
import { contender } from './contest.ts';

await member(contender);
