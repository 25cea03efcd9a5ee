/**
 * Creates functions that make members of an object its own, so that a spread copies them: also those that a getter of its
 * class computes on first read. A proxy costs less per reconcile than a getter per object and member.
 */
export function ownMembers<T extends object>(names: readonly (keyof T & string)[]): (target: T) => T {
  const known: ReadonlySet<string | symbol> = new Set(names)
  const handler: ProxyHandler<T> = {
    // The getters read private fields, which a proxy does not have.
    get: (target, name) => target[name as keyof T],
    ownKeys: () => [...names],
    getOwnPropertyDescriptor: (target, name) =>
      known.has(name) ? { value: target[name as keyof T], enumerable: true, configurable: true } : undefined,
  }
  return (target) => new Proxy(target, handler)
}
