/**
 * Whether a server of this version answers a progress request in order with the events of the stream. In older versions
 * the answer could overtake pending events and thus report progress that was not made yet.
 */
export function answersProgressInOrder(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number)
  if (major !== 3) return major > 3
  if (minor === 4) return patch >= 31
  if (minor === 5) return patch >= 13
  return minor > 5
}
