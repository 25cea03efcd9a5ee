/**
 * The milliseconds of `time.Duration(seconds) * time.Second` in Go. Fields of 64 bits can hold more seconds than a duration of Go, which
 * has 64 bits of nanoseconds and wraps around. Such seconds are decoded as bigint, so plain arithmetic would throw.
 */
export function goSecondsToMillis(seconds: number | bigint): number {
  if (typeof seconds === 'number' && Math.abs(seconds) <= maxExactSeconds) return seconds * 1000
  return Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n) / 1_000_000n)
}

const maxExactSeconds = 9_000_000_000
