import { describePlanted } from './testdata/describe-planted.ts'
import { plantedInstances } from './testdata/planted-instances.ts'

describePlanted(plantedInstances)
