import { plantedBasics } from './planted-basic.ts'
import { plantedFaults } from './planted-faults.ts'
import { plantedInputs } from './planted-inputs.ts'
import { plantedInstances } from './planted-instances.ts'
import { plantedOutside } from './planted-outside.ts'
import { plantedStates } from './planted-states.ts'
import { plantedStyles } from './planted-styles.ts'
import { plantedValues } from './planted-values.ts'
import { plantedVolumes } from './planted-volumes.ts'
import { plantedWorkloads } from './planted-workloads.ts'
import type { Planted } from './things.ts'

export { Cloud, type Planted, plantedSamples, Thing } from './things.ts'

/** The planted mistakes by name. */
export const planted: Readonly<Record<string, Planted>> = {
  ...plantedBasics,
  ...plantedStates,
  ...plantedInputs,
  ...plantedInstances,
  ...plantedWorkloads,
  ...plantedVolumes,
  ...plantedOutside,
  ...plantedStyles,
  ...plantedFaults,
  ...plantedValues,
}
