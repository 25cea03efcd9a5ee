import { describePlanted } from './testdata/describe-planted.ts'
import { plantedFaults } from './testdata/planted-faults.ts'

describePlanted(plantedFaults)
