export {
  type Done,
  type OnceOptions,
  type OnceResult,
  once,
  type Ran,
  type Running,
} from './once.ts';
