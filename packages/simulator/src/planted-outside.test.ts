import { describePlanted } from './testdata/describe-planted.ts'
import { plantedOutside } from './testdata/planted-outside.ts'

describePlanted(plantedOutside)
