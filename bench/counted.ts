import type { Store } from 'holdfast';

/** The store, and how often its verbs were called. */
export function counted(store: Store): { store: Store; calls: () => number } {
  let calls = 0;
  const verbs = new Set(['claim', 'renew', 'release', 'inspect']);
  const proxy = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        if (verbs.has(String(name))) calls++;
        return value.apply(target, args);
      };
    },
  });
  return { store: proxy, calls: () => calls };
}
