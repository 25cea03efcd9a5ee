import { admission } from './admission.ts'
import { conversion } from './conversion.ts'
import { crashLoop } from './crash-loop.ts'
import { defaulting } from './defaulting.ts'
import type { OracleDefinition } from './define-oracle.ts'
import { deletedClaims } from './deleted-claims.ts'
import { deletion } from './deletion.ts'
import { endState } from './end-state.ts'
import { errors } from './errors.ts'
import { collidingNames, failingSamples } from './failing-samples.ts'
import { hotLoop } from './hot-loop.ts'
import { leader } from './leader.ts'
import { lostData } from './lost-data.ts'
import { missedChanges } from './missed-changes.ts'
import { neighborsUntouched } from './neighbors-untouched.ts'
import { orphans } from './orphans.ts'
import { periodicWork } from './periodic-work.ts'
import { quiet, quietAfterFaults } from './quiet.ts'
import { ownWebhooks, rights } from './refusals.ts'
import { remainingVolumes } from './remaining-volumes.ts'
import { selectors } from './selectors.ts'
import { settles } from './settles.ts'
import { staleEnvironment, staleEnvironmentAfterFault } from './stale-environment.ts'
import { status } from './status.ts'
import { zeroReplicas } from './zero-replicas.ts'

/** The oracles of every simulation. The first violation is reported, so that the order decides between several. */
export const builtinOracles: readonly OracleDefinition[] = [
  endState,
  settles,
  deletion,
  orphans,
  selectors,
  staleEnvironment,
  status,
  deletedClaims,
  neighborsUntouched,
  quiet,
  quietAfterFaults,
  failingSamples,
  collidingNames,
  hotLoop,
  crashLoop,
  leader,
  rights,
  ownWebhooks,
  errors,
  admission,
  conversion,
  defaulting,
  lostData,
  missedChanges,
  zeroReplicas,
  periodicWork,
  remainingVolumes,
  staleEnvironmentAfterFault,
]
