import { counter, gauge, histogram } from './metric.ts'

const synced = counter('synced_total', { help: 'h', labels: ['team', 'result'] })
synced.inc({ team: 'a', result: 'b' })
synced.inc({ team: 'a', result: 'b' }, 2)
// @ts-expect-error a label is missing
synced.inc({ team: 'a' })
// @ts-expect-error an unknown label
synced.inc({ team: 'a', result: 'b', other: 'c' })
// @ts-expect-error labels are required
synced.inc()
// @ts-expect-error counters cannot be set
synced.set({ team: 'a', result: 'b' }, 2)

const open = gauge('open', { help: 'h' })
open.set(1)
open.inc()
// @ts-expect-error it has no labels
open.set({ team: 'a' }, 1)

const sizes = histogram('sizes', { help: 'h', labels: ['team'] })
sizes.observe({ team: 'a' }, 1)
// @ts-expect-error the value is required
sizes.observe({ team: 'a' })
// @ts-expect-error a help text is required
counter('no_help', {})
