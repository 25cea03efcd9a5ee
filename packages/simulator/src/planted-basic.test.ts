import { describePlanted } from './testdata/describe-planted.ts'
import { plantedBasics } from './testdata/planted-basic.ts'

describePlanted(plantedBasics)
