import { describePlanted } from './testdata/describe-planted.ts'
import { plantedValues } from './testdata/planted-values.ts'

describePlanted(plantedValues)
