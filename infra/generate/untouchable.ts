/**
 * Stands for the parts of an app where none is running. Its members can be named and handed on, which is all that
 * declaring a route does; whoever calls one learns that it did more than declare.
 */
export function untouchable(name: string): unknown {
  const refuse = () => {
    throw new Error(`${name} was used while the routes were declared: only handlers may use it`);
  };
  return new Proxy(refuse, {
    get: (_target, key) => (typeof key === 'symbol' ? refuse() : untouchable(`${name}.${key}`)),
    set: refuse,
    has: refuse,
    ownKeys: refuse,
    construct: refuse,
  });
}
