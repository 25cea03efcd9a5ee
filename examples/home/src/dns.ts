/** A DNS provider. Both calls are idempotent. */
export interface Dns {
  point(domain: string, target: string, options: { signal: AbortSignal }): Promise<void>
  release(domain: string, options: { signal: AbortSignal }): Promise<void>
}

/** A placeholder for a DNS provider that prints what it would do. */
export function cloudDns(): Dns {
  return {
    async point(domain, target) {
      console.log(`dns: ${domain} -> ${target}`)
    },
    async release(domain) {
      console.log(`dns: ${domain} released`)
    },
  }
}

/** A DNS provider that stores records in memory. */
export function fakeDns(): Dns & { readonly records: Record<string, string> } {
  const records: Record<string, string> = {}
  return {
    records,
    async point(domain, target) {
      records[domain] = target
    },
    async release(domain) {
      delete records[domain]
    },
  }
}
