import { describePlanted } from './testdata/describe-planted.ts'
import { plantedInputs } from './testdata/planted-inputs.ts'

describePlanted(plantedInputs)
