/** A process of tasks that all want the same lock of a database. */
import { member } from '../contended/member.ts';
import { contender } from './database.ts';

await member(contender);
