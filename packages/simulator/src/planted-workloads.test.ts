import { describePlanted } from './testdata/describe-planted.ts'
import { plantedWorkloads } from './testdata/planted-workloads.ts'

describePlanted(plantedWorkloads)
