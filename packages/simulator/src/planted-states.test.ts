import { describePlanted } from './testdata/describe-planted.ts'
import { plantedStates } from './testdata/planted-states.ts'

describePlanted(plantedStates)
