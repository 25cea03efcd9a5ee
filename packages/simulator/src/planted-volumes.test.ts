import { describePlanted } from './testdata/describe-planted.ts'
import { plantedVolumes } from './testdata/planted-volumes.ts'

describePlanted(plantedVolumes)
