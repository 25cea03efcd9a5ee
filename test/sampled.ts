/**
 * The numbers from 1 to `count` that a test tries: every fifth one, or all of them with KUBEWRIGHT_EXHAUSTIVE=1. The first and the last are
 * always among them.
 */
export function sampled(count: number): number[] {
  const all = Array.from({ length: count }, (_, index) => index + 1)
  if (process.env['KUBEWRIGHT_EXHAUSTIVE'] === '1') return all
  return all.filter((at) => at % 5 === 1 || at === count)
}
