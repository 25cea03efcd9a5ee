import fc from 'fast-check'

/**
 * fast-check with one seed for every run, so that `npm test` has the same result for the same code.
 * KUBEWRIGHT_SEED changes the seed; `KUBEWRIGHT_SEED=random` draws a new one for each property and explores further.
 */
const seed = process.env['KUBEWRIGHT_SEED'] ?? '1'

if (seed !== 'random') {
  const number = [...seed].reduce((hash, char) => (Math.imul(hash, 31) + char.charCodeAt(0)) | 0, 0)
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: number })
}

export * from 'fast-check'
export default fc
