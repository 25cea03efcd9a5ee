import type { FaultDefinition } from '../define/define-fault.ts'
import { childChanged } from './child-changed.ts'
import { childDeleted } from './child-deleted.ts'
import { clockJump } from './clock-jump.ts'
import { crash } from './crash.ts'
import { error } from './error.ts'
import { forbidden } from './forbidden.ts'
import { leaseLost } from './lease-lost.ts'
import { lost } from './lost.ts'
import { nodeLost } from './node-lost.ts'
import { pause } from './pause.ts'
import { podCrash } from './pod-crash.ts'
import { podsPending } from './pods-pending.ts'
import { podsUnready } from './pods-unready.ts'
import { quota } from './quota.ts'
import { serverRestart } from './server-restart.ts'
import { slow } from './slow.ts'
import { stale } from './stale.ts'
import { volumesPending } from './volumes-pending.ts'
import { watchCut } from './watch-cut.ts'
import { watchGap } from './watch-gap.ts'
import { watchLag } from './watch-lag.ts'
import { webhooksDown } from './webhooks-down.ts'

/** The kinds of faults of every simulation. Random schedules choose by position, so that another order changes them. */
export const builtinFaults: readonly FaultDefinition[] = [
  crash,
  error,
  lost,
  watchCut,
  watchGap,
  watchLag,
  stale,
  childDeleted,
  childChanged,
  slow,
  serverRestart,
  clockJump,
  quota,
  forbidden,
  webhooksDown,
  podCrash,
  podsUnready,
  podsPending,
  nodeLost,
  volumesPending,
  pause,
  leaseLost,
]
