export {
  type Done,
  type FromJson,
  type OnceOptions,
  type OnceResult,
  once,
  type Ran,
  type Running,
} from './once.ts';
