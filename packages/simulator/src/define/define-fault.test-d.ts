import { defineOracle } from '../oracles/define-oracle.ts'
import { defineFault } from './define-fault.ts'

type Own = { readonly kind: 'own'; readonly at: number }
const parts = { kind: 'own', class: 'own', summary: 'own', inject: () => undefined } as const
const points = (at: number): Own[] => [{ kind: 'own', at }]

defineFault<Own>({ ...parts, points, duration: () => 0, describe: () => 'own' })
// @ts-expect-error: the duration is missing, which has no default
defineFault<Own>({ ...parts, points, describe: () => 'own' })
// @ts-expect-error: the points are missing
defineFault<Own>({ ...parts, duration: () => 0, describe: () => 'own' })
// @ts-expect-error: the description is missing
defineFault<Own>({ ...parts, points, duration: () => 0 })
// @ts-expect-error: a parameter that is not JSON cannot be replayed
defineFault<Own & { readonly since: Date }>({ ...parts, points: () => [], duration: () => 0, describe: () => 'own' })

defineOracle({ name: 'own', property: 'own', needs: 'run', check: () => undefined })
defineOracle({ name: 'own', property: 'own', needs: 'run', observe: () => ({}) })
// @ts-expect-error: it checks nothing
defineOracle({ name: 'own', property: 'own', needs: 'run' })
// @ts-expect-error: only an oracle with needs: 'rerun' runs schedules again
defineOracle({ name: 'own', property: 'own', needs: 'run', check: ({ rerun }) => void rerun })
