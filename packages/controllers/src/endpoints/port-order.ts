import type { EndpointSlice } from '@kubewright/k8s'

type Port = NonNullable<EndpointSlice['ports']>[number]

/**
 * Sorts items in the order in which kube-controller-manager writes them: by the hash of Go's printed form of each item.
 * The order has no meaning, but keeps the output comparable with a real cluster.
 */
export function byPrintedHash<T>(items: readonly T[], print: (item: T) => string | undefined): T[] {
  const ranked = items.map((item) => ({ item, rank: rankOf(print(item)) }))
  return ranked.sort((a, b) => (a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0)).map(({ item }) => item)
}

/** The ports of a slice in the order of {@link byPrintedHash}. */
export function sortSlicePorts(ports: readonly Port[]): Port[] {
  return byPrintedHash(
    ports,
    ({ name = '', protocol = 'TCP', port, appProtocol = '<nil>' }) =>
      `(v1.EndpointPort){Name:(*string)${name} Protocol:(*v1.Protocol)${protocol} Port:(*int32)${port} AppProtocol:(*string)${appProtocol}}`,
  )
}

const fnvPrime = 0x0000000001000000000000000000013bn
const fnvOffset = 0x6c62272e07bb014262b821756295c58dn

// 128-bit FNV-1a. Items without a printed form come first.
function rankOf(text: string | undefined): bigint {
  if (text === undefined) return 0n
  let hash = fnvOffset
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(128, (hash ^ BigInt(byte)) * fnvPrime)
  return hash
}
